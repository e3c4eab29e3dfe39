package accounts

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Params is what a hash costs. More is better against who steals the database, and costs each login.
type Params struct {
	Memory  uint32 // KiB, 8 to 1 GiB, default 19 MiB
	Passes  uint32 // over the memory, 1 to 64, default 2
	Threads uint8  // that fill it, 1 to 16, default 1
}

// Bounds of parameters, also of those that stand in the database: a row that claims more is damaged,
// and must not take the process with it.
const (
	maxMemory  = 1 << 20 // KiB
	minMemory  = 8       // KiB for each thread: what the algorithm needs
	maxPasses  = 64
	maxThreads = 16
)

// Lengths in bytes. Those that are read may differ within bounds.
const (
	saltLength = 16
	keyLength  = 32
	minLength  = 8
	maxLength  = 64
)

// errHash is for a hash that cannot be read.
var errHash = errors.New("accounts: bad hash")

func (p Params) check() error {
	if p.Threads < 1 || p.Threads > maxThreads || p.Passes < 1 || p.Passes > maxPasses ||
		p.Memory < minMemory*uint32(p.Threads) || p.Memory > maxMemory {
		return fmt.Errorf("%w: memory %d KiB, %d passes, %d threads are out of bounds", errHash, p.Memory, p.Passes, p.Threads)
	}
	return nil
}

// hash is a hashed password.
type hash struct {
	Params
	salt, key []byte
}

// newHash hashes a password with a new salt.
func newHash(p Params, password string, random io.Reader) (*hash, error) {
	h := &hash{Params: p, salt: make([]byte, saltLength)}
	if _, err := io.ReadFull(random, h.salt); err != nil {
		return nil, fmt.Errorf("accounts: no salt: %w", err)
	}
	h.key = h.of(password, keyLength)
	return h, nil
}

func (h *hash) of(password string, length int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.Passes, h.Memory, h.Threads, uint32(length))
}

// matches reports whether the password is the one that was hashed, in a time that depends only on the
// parameters.
func (h *hash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.of(password, len(h.key)), h.key) == 1
}

// String is the form that other programs use, too:
// $argon2id$v=19$m=19456,t=2,p=1$salt$key.
func (h *hash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.Memory, h.Passes, h.Threads,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.key))
}

// parseHash reads what String wrote.
func parseHash(s string) (*hash, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, fmt.Errorf("%w: it is none of argon2id", errHash)
	}
	h := &hash{}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.Memory, &h.Passes, &h.Threads); n != 3 {
		return nil, fmt.Errorf("%w: parameters %q: %w", errHash, parts[3], err)
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	var err error
	for i, to := range []*[]byte{&h.salt, &h.key} {
		if *to, err = base64.RawStdEncoding.DecodeString(parts[4+i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errHash, err)
		}
		if n := len(*to); n < minLength || n > maxLength {
			return nil, fmt.Errorf("%w: %d bytes of salt or key", errHash, n)
		}
	}
	return h, nil
}
