package loginapp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
)

// Auth says who a player is.
type Auth interface {
	// Authenticate returns the account that user and password are good for, not
	// empty and at most 256 bytes. Two users of one account cannot play at the
	// same time. It may block until ctx is done, and may run on several
	// goroutines at once.
	//
	// Any error refuses the login as protocol.BadCredentials and is logged, but
	// not told to the client; one with ErrUnavailable in its chain, or an end of
	// ctx, refuses it as protocol.ServerBusy: nobody was asked.
	Authenticate(ctx context.Context, user, password string) (account string, err error)
}

// ErrUnavailable is what an Auth wraps when it could not ask: the player's
// password may be good.
var ErrUnavailable = errors.New("loginapp: accounts cannot be asked now")

// ErrCredentials is the error of AcceptAll and Table.
var ErrCredentials = errors.New("loginapp: unknown user or wrong password")

// Jobs performs what blocks. The runner provides it.
type Jobs interface {
	// Do runs a function elsewhere and hands its result to JobDone with the same
	// token, on the goroutine that owns the LoginApp and not within Do. It does so
	// once for every job, also when run panicked or ctx ended: then result is the
	// error.
	Do(token uint64, run func(ctx context.Context) any)
}

// AcceptAll lets everyone in who gives a name, whatever the password; the name is
// the account. For examples, tests and closed networks.
type AcceptAll struct{}

// Authenticate implements Auth.
func (AcceptAll) Authenticate(_ context.Context, user, _ string) (string, error) {
	if user == "" {
		return "", ErrCredentials
	}
	return user, nil
}

// Table is an Auth for a few users known beforehand: passwords by user. The user
// is the account.
type Table map[string]string

// Authenticate implements Auth. The time it takes does not tell how much of a
// password was right: digests are compared, and wholly.
func (t Table) Authenticate(_ context.Context, user, password string) (string, error) {
	want, ok := t[user]
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 || !ok || user == "" {
		return "", ErrCredentials
	}
	return user, nil
}

// verdict is the result of a job.
type verdict struct {
	account string
	err     error
}

func authenticate(auth Auth, user, password string) func(context.Context) any {
	return func(ctx context.Context) any {
		account, err := auth.Authenticate(ctx, user, password)
		return verdict{account, err}
	}
}
