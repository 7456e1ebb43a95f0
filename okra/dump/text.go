package dump

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"unicode/utf8"
)

// The encodings of bytes in JSON. Writing, bytes that are valid UTF-8 are that, others base64.
const (
	encodingUTF8   = "utf-8"
	encodingBase64 = "base64"
	encodingHex    = "hex"
)

// encodeText returns b as a JSON string can hold it, and the name of the encoding.
func encodeText(b []byte) (text, encoding string) {
	if utf8.Valid(b) {
		return string(b), encodingUTF8
	}
	return base64.StdEncoding.EncodeToString(b), encodingBase64
}

// decodeText appends to dst the bytes that a text stands for.
func decodeText(dst, text []byte, encoding string) ([]byte, error) {
	switch encoding {
	case encodingUTF8:
		return append(dst, text...), nil
	case encodingBase64:
		b, err := base64.StdEncoding.Strict().AppendDecode(dst, text)
		if err != nil {
			return nil, fmt.Errorf("%w: %.60q is not base64: %w", ErrSyntax, text, err)
		}
		return b, nil
	case encodingHex:
		b, err := hex.AppendDecode(dst, text)
		if err != nil {
			return nil, fmt.Errorf("%w: %.60q is not hexadecimal: %w", ErrSyntax, text, err)
		}
		return b, nil
	}
	return nil, fmt.Errorf("%w: encoding %.60q is none of utf-8, base64 and hex", ErrSyntax, encoding)
}
