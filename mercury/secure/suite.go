package secure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/flynn/noise"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/cellscape/cellscape/internal/enum"
)

// Suite names the ciphers of a channel. The dialler chooses; an acceptor takes both, since neither
// is weaker.
type Suite uint8

const (
	// AESGCM is Noise_NK_25519_AESGCM_SHA256, with AES-128-GCM for packets: the faster one if the
	// processor has AES. 128 bits match the strength of Curve25519, so a longer key would gain
	// nothing.
	AESGCM Suite = 1
	// ChaChaPoly is Noise_NK_25519_ChaChaPoly_SHA256, with ChaCha20-Poly1305 for packets: for
	// machines without AES instructions, where AES is slow and its timing reveals something of the
	// key.
	ChaChaPoly Suite = 2
)

// String names the AEAD.
func (s Suite) String() string {
	return enum.Name(s, "suite", []string{
		AESGCM:     "AES-128-GCM",
		ChaChaPoly: "ChaCha20-Poly1305",
	})
}

func (s Suite) valid() bool { return s == AESGCM || s == ChaChaPoly }

// Sizes that both suites share.
const (
	tagSize   = 16
	nonceSize = 12
	aesSize   = 16
)

// noise returns the suite for the handshake's library, with the keys of one handshake.
func (s Suite) noise(x *exchange) noise.CipherSuite {
	c := noise.CipherAESGCM
	if s == ChaChaPoly {
		c = noise.CipherChaChaPoly
	}
	return noise.NewCipherSuite(x, lazyCipher{c}, noise.HashSHA256)
}

// secret is a key from which others are derived. It is never the key of a cipher itself.
type secret [32]byte

// derive is HKDF-Expand of k for one purpose (RFC 5869, section 2.3). The zero byte ends the label,
// so that label and context of one purpose cannot run together into those of another.
func (k *secret) derive(label string, context []byte, size int) []byte {
	info := make([]byte, 0, 64+len(context))
	info = append(info, "cellscape mercury 1 "...)
	info = append(append(info, label...), 0)
	info = append(info, context...)
	out, err := hkdf.Expand(sha256.New, k[:], string(info), size)
	if err != nil {
		panic(err) // only for sizes that no caller uses
	}
	return out
}

// after is the secret of the next epoch. There is no way back from it.
func (k *secret) after() secret { return secret(k.derive("epoch", nil, len(k))) }

// packetKeys protect the packets of one epoch in one direction.
type packetKeys struct {
	aead cipher.AEAD
	iv   [nonceSize]byte
}

// packetKeys makes the keys of k's epoch.
func (s Suite) packetKeys(k *secret) packetKeys {
	size := aesSize
	if s == ChaChaPoly {
		size = chacha20poly1305.KeySize
	}
	out := k.derive("packet", nil, size+nonceSize)
	var a cipher.AEAD
	var err error
	if s == ChaChaPoly {
		a, err = chacha20poly1305.New(out[:size])
	} else {
		a, err = newGCM(out[:size])
	}
	if err != nil {
		panic(err) // only for keys of another size
	}
	return packetKeys{aead: a, iv: [nonceSize]byte(out[size:])}
}

func newGCM(key []byte) (cipher.AEAD, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(b)
}
