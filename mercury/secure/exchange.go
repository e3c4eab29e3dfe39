package secure

import (
	"crypto/ecdh"
	"fmt"
	"io"

	"github.com/flynn/noise"
)

// exchange is Curve25519 for one handshake, as a noise.DHFunc. The library's own DHFunc computes
// the public key again at each use of a private one, which doubles the cost of an answer to a
// stranger. This one remembers the private keys of its side.
type exchange struct {
	own [2]ownKey // static and ephemeral
}

// ownKey is a private key: its bytes, by which the library names it, and the form with which the
// standard library computes.
type ownKey struct {
	raw []byte
	key *ecdh.PrivateKey
}

// newOwnKey takes 32 bytes, and keeps the slice.
func newOwnKey(raw []byte) ownKey {
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		panic(err) // every 32 bytes are a private key of X25519
	}
	return ownKey{raw, key}
}

func (k ownKey) pair() noise.DHKey {
	return noise.DHKey{Private: k.raw, Public: k.key.PublicKey().Bytes()}
}

// GenerateKeypair implements noise.DHFunc.
func (x *exchange) GenerateKeypair(random io.Reader) (noise.DHKey, error) {
	raw := make([]byte, KeySize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return noise.DHKey{}, fmt.Errorf("secure: drawing a key: %w", err)
	}
	x.own[1] = newOwnKey(raw)
	return x.own[1].pair(), nil
}

// DH implements noise.DHFunc. It fails for a public key of low order. It recognises the private key
// by its place in memory, not by its value, so that no secret is compared.
func (x *exchange) DH(private, public []byte) ([]byte, error) {
	peer, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	for _, k := range x.own {
		if k.raw != nil && &k.raw[0] == &private[0] {
			return k.key.ECDH(peer)
		}
	}
	panic("secure: a private key that does not belong to this handshake")
}

// DHLen implements noise.DHFunc.
func (x *exchange) DHLen() int { return KeySize }

// DHName implements noise.DHFunc.
func (x *exchange) DHName() string { return noise.DH25519.DHName() }
