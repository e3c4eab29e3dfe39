package secure

import (
	"crypto/ecdh"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/cellscape/cellscape/mercury"
)

// KeySize is the size of every key that a Config holds, in bytes.
const KeySize = 32

// PrivateKey is the static key of an acceptor. Whoever has it can impersonate the acceptor. Keep it
// out of the client and out of version control. It does not print itself.
type PrivateKey [KeySize]byte

// PublicKey is how diallers know an acceptor. It ships with the client.
type PublicKey [KeySize]byte

// TicketKey seals tickets. Apps that mint tickets for each other share it. It does not print
// itself.
type TicketKey [KeySize]byte

// ClusterKey is the key that the processes of one cluster share and nobody else has. It does not
// print itself.
type ClusterKey [KeySize]byte

// AccessKey admits a program that is not a process of the cluster, to observe or operate it. It is
// derived from a ClusterKey, and is good as long as that is. It does not print itself.
type AccessKey struct {
	standing mercury.Standing // Observer or Operator
	key      secret
}

// GenerateKey draws a static key from random, which must be fit for keys: crypto/rand.Reader.
func GenerateKey(random io.Reader) (PrivateKey, error) {
	var k PrivateKey
	if _, err := io.ReadFull(random, k[:]); err != nil {
		return PrivateKey{}, fmt.Errorf("secure: drawing a key: %w", err)
	}
	return k, nil
}

// GenerateTicketKey draws a ticket key from random, which must be fit for keys.
func GenerateTicketKey(random io.Reader) (TicketKey, error) {
	k, err := GenerateKey(random)
	return TicketKey(k), err
}

// GenerateClusterKey draws a cluster key from random, which must be fit for keys.
func GenerateClusterKey(random io.Reader) (ClusterKey, error) {
	k, err := GenerateKey(random)
	return ClusterKey(k), err
}

// ParsePrivateKey reads 64 hexadecimal digits.
func ParsePrivateKey(s string) (PrivateKey, error) {
	k, err := parseKey(s)
	return PrivateKey(k), err
}

// ParsePublicKey reads what PublicKey.String wrote.
func ParsePublicKey(s string) (PublicKey, error) {
	k, err := parseKey(s)
	return PublicKey(k), err
}

// ParseTicketKey reads 64 hexadecimal digits.
func ParseTicketKey(s string) (TicketKey, error) {
	k, err := parseKey(s)
	return TicketKey(k), err
}

// ParseClusterKey reads 64 hexadecimal digits.
func ParseClusterKey(s string) (ClusterKey, error) {
	k, err := parseKey(s)
	return ClusterKey(k), err
}

// ParseAccessKey reads what AccessKey.Hex wrote.
func ParseAccessKey(s string) (AccessKey, error) {
	for _, standing := range []mercury.Standing{mercury.Observer, mercury.Operator} {
		if digits, ok := strings.CutPrefix(s, standing.String()+"-"); ok {
			k, err := parseKey(digits)
			return AccessKey{standing, k}, err
		}
	}
	return AccessKey{}, errors.New(`secure: an access key begins with "observer-" or "operator-"`)
}

// parseKey does not repeat s in its error, since s might be a key with one digit too many.
func parseKey(s string) (k [KeySize]byte, err error) {
	if len(s) != hex.EncodedLen(KeySize) {
		return k, fmt.Errorf("secure: a key has %d hexadecimal digits, not %d characters", hex.EncodedLen(KeySize), len(s))
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return [KeySize]byte{}, fmt.Errorf("secure: a key is %d hexadecimal digits and nothing else", hex.EncodedLen(KeySize))
	}
	return k, nil
}

// Public is the other half of k, which everyone may see.
func (k PrivateKey) Public() PublicKey {
	p, err := ecdh.X25519().NewPrivateKey(k[:])
	if err != nil {
		panic(err) // every 32 bytes are a private key of X25519
	}
	return PublicKey(p.PublicKey().Bytes())
}

// Hex is k for a file that only its owner may read.
func (k PrivateKey) Hex() string { return hex.EncodeToString(k[:]) }

// Hex is k for a file that only its owner may read.
func (k TicketKey) Hex() string { return hex.EncodeToString(k[:]) }

// Hex is k for a file that only its owner may read.
func (k ClusterKey) Hex() string { return hex.EncodeToString(k[:]) }

// Hex is k for a file that only its owner may read: what it allows, and 64 hexadecimal digits.
func (k AccessKey) Hex() string { return k.standing.String() + "-" + hex.EncodeToString(k.key[:]) }

// Standing is what k proves where it is accepted.
func (k AccessKey) Standing() mercury.Standing { return k.standing }

// String gives 64 hexadecimal digits.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

// IsZero reports whether k is no key.
func (k PublicKey) IsZero() bool { return k == PublicKey{} }

// IsZero reports whether k is no key.
func (k PrivateKey) IsZero() bool { return k == PrivateKey{} }

// IsZero reports whether k is no key.
func (k TicketKey) IsZero() bool { return k == TicketKey{} }

// IsZero reports whether k is no key.
func (k ClusterKey) IsZero() bool { return k == ClusterKey{} }

// IsZero reports whether k is no key.
func (k AccessKey) IsZero() bool { return k == AccessKey{} }

// hidden is what a secret prints in every format, since a Config lands in a log sooner or later.
const hidden = "(hidden)"

var errSecret = errors.New("secure: a secret is not written as text by itself; Hex gives it")

// Format writes "(hidden)" for every verb.
func (k PrivateKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// Format writes "(hidden)" for every verb.
func (k TicketKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText fails, so that nobody takes what it writes for k. Hex gives k itself.
func (k PrivateKey) MarshalText() ([]byte, error) { return nil, errSecret }

// MarshalJSON writes "(hidden)", for logs.
func (k PrivateKey) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue is "(hidden)".
func (k PrivateKey) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText fails, so that nobody takes what it writes for k. Hex gives k itself.
func (k TicketKey) MarshalText() ([]byte, error) { return nil, errSecret }

// MarshalJSON writes "(hidden)", for logs.
func (k TicketKey) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue is "(hidden)".
func (k TicketKey) LogValue() slog.Value { return slog.StringValue(hidden) }

// Format writes "(hidden)" for every verb.
func (k ClusterKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// Format writes "(hidden)" for every verb.
func (k AccessKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText fails, so that nobody takes what it writes for k. Hex gives k itself.
func (k ClusterKey) MarshalText() ([]byte, error) { return nil, errSecret }

// MarshalJSON writes "(hidden)", for logs.
func (k ClusterKey) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue is "(hidden)".
func (k ClusterKey) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText fails, so that nobody takes what it writes for k. Hex gives k itself.
func (k AccessKey) MarshalText() ([]byte, error) { return nil, errSecret }

// MarshalJSON writes "(hidden)", for logs.
func (k AccessKey) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// LogValue is "(hidden)".
func (k AccessKey) LogValue() slog.Value { return slog.StringValue(hidden) }
