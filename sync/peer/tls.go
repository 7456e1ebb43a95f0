package peer

import (
	"crypto/tls"
	"errors"
)

// protocol is the application protocol (ALPN) of this transport.
const protocol = "okra/1"

// The reasons why a handshake is ended here.
var (
	errNoCertificate = errors.New("the peer has not shown one certificate")
	errNoProtocol    = errors.New("the peer does not speak " + protocol)
)

// tlsConfig returns the configuration of either side. Verify is asked whether the peer that has
// proved to have the key of an ID is welcome.
func (i *Identity) tlsConfig(verify func(ID) error) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{i.cert},
		NextProtos:             []string{protocol},
		ClientAuth:             tls.RequireAnyClientCert,
		SessionTicketsDisabled: true,
		// There is nothing to verify but the ID, which VerifyConnection does.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if state.NegotiatedProtocol != protocol {
				return errNoProtocol
			}
			id, err := peerID(state)
			if err != nil {
				return err
			}
			return verify(id)
		},
	}
}

// peerID returns the ID of the peer at the other end.
func peerID(state tls.ConnectionState) (ID, error) {
	if len(state.PeerCertificates) != 1 {
		return ID{}, errNoCertificate
	}
	return idOf(state.PeerCertificates[0])
}
