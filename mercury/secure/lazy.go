package secure

import "github.com/flynn/noise"

// lazyCipher makes a cipher with its first use. At the end of each handshake the library makes two
// of which only the keys are asked for, and their tables are the most that a handshake allocates.
type lazyCipher struct{ noise.CipherFunc }

// Cipher implements noise.CipherFunc.
func (f lazyCipher) Cipher(key [32]byte) noise.Cipher { return &lazyKey{of: f.CipherFunc, key: key} }

// lazyKey is a cipher before its first use, and after.
type lazyKey struct {
	of   noise.CipherFunc
	key  [32]byte
	made noise.Cipher
}

func (c *lazyKey) cipher() noise.Cipher {
	if c.made == nil {
		c.made = c.of.Cipher(c.key)
	}
	return c.made
}

// Encrypt implements noise.Cipher.
func (c *lazyKey) Encrypt(out []byte, n uint64, ad, plaintext []byte) []byte {
	return c.cipher().Encrypt(out, n, ad, plaintext)
}

// Decrypt implements noise.Cipher.
func (c *lazyKey) Decrypt(out []byte, n uint64, ad, ciphertext []byte) ([]byte, error) {
	return c.cipher().Decrypt(out, n, ad, ciphertext)
}
