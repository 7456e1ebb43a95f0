// Package peer carries sessions of package sync between machines and processes: over TCP with
// TLS 1.3, where each side is known by its key alone, and over the standard input and output of
// a program such as ssh.
//
// # Who is who
//
// An [Identity] is an Ed25519 key in a file. Its [ID] is a hash of the public key, and an
// [Address] names a peer by its ID, a host and a port:
//
//	okra://ID@host:port
//
// There are no authorities, names and dates: certificates are made anew at each start, signed by
// the key itself, and carry it to the other side, where nothing but the ID counts. So who has an
// address knows who will answer, and a [Server] knows from its [AllowList] who may ask.
//
// # On the wire
//
// TLS 1.3, a certificate with an Ed25519 key from both sides, and the application protocol
// "okra/1". When the handshake is done the server sends one byte: 0, and the sessions of package
// sync follow; or the reason why there will be none, 1 busy, 2 not allowed, and it closes the
// connection. So the side that dials learns the reason from [Dial], before it sends anything.
package peer
