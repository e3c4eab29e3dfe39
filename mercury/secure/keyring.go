package secure

import (
	"crypto/cipher"
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// box seals what an acceptor hands out and takes back, by XChaCha20-Poly1305. Its nonces are long
// enough to be drawn at random for as long as a key lives, and it needs no AES instructions.
type box struct{ aead cipher.AEAD }

// Sizes of what a box makes.
const (
	boxNonce    = chacha20poly1305.NonceSizeX
	boxOverhead = boxNonce + tagSize
)

func newBox(key [KeySize]byte) box {
	a, err := chacha20poly1305.NewX(key[:])
	if err != nil {
		panic(err) // only for keys of another size
	}
	return box{a}
}

// seal appends nonce, sealed text and tag to b.
func (x box) seal(b []byte, nonce *[boxNonce]byte, text, context []byte) []byte {
	b = append(b, nonce[:]...)
	return x.aead.Seal(b, nonce[:], text, context)
}

// open appends to dst what seal was given.
func (x box) open(dst, sealed, context []byte) ([]byte, bool) {
	if x.aead == nil || len(sealed) < boxOverhead {
		return nil, false
	}
	text, err := x.aead.Open(dst, sealed[:boxNonce], sealed[boxNonce:], context)
	return text, err == nil
}

// keyring is a key that is drawn again each period. The one before still opens. Older ones are
// gone, and nobody can open what they sealed, not even this process.
type keyring struct {
	period   time.Duration
	random   io.Reader
	number   int64 // of the period that now belongs to
	now, old box
}

func newKeyring(period time.Duration, random io.Reader) *keyring {
	return &keyring{period: period, random: random}
}

// turn draws a key if the period has changed. On error nothing changes.
func (k *keyring) turn(now time.Duration) error {
	number := int64(now / k.period)
	if k.now.aead != nil && number <= k.number {
		return nil
	}
	var key [KeySize]byte
	if _, err := io.ReadFull(k.random, key[:]); err != nil {
		return fmt.Errorf("secure: drawing a key: %w", err)
	}
	k.old = box{}
	if number == k.number+1 {
		k.old = k.now
	}
	k.number, k.now = number, newBox(key)
	return nil
}

// open tries the key of this period and the one before.
func (k *keyring) open(dst, sealed, context []byte) ([]byte, bool) {
	if text, ok := k.now.open(dst, sealed, context); ok {
		return text, true
	}
	return k.old.open(dst, sealed, context)
}

// forget drops both keys, so that nobody can open what they sealed.
func (k *keyring) forget() { k.now, k.old = box{}, box{} }
