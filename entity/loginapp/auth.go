package loginapp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
)

// Auth checks who a player is.
type Auth interface {
	// Authenticate returns who a user with that password is. Two users of one account cannot play at
	// the same time. It may block until ctx is done, and may be called on several goroutines at once.
	//
	// Any error refuses the login as protocol.BadCredentials. It is logged, but not sent to the
	// client. An error that wraps ErrUnavailable, or the end of ctx, refuses the login as
	// protocol.ServerBusy, since nobody could check it. An error that wraps a *protocol.Refused
	// refuses it as that says, and the client is told its Reason, too: protocol.Banned, until Friday and
	// why, for who knows the password.
	Authenticate(ctx context.Context, user, password string) (Player, error)
}

// ErrUnavailable is for an Auth to wrap when it could not check: the password may be right.
var ErrUnavailable = errors.New("loginapp: accounts cannot be checked now")

// ErrCredentials is the error of AcceptAll and Table.
var ErrCredentials = errors.New("loginapp: unknown user or wrong password")

// Jobs runs blocking work off the LoginApp's goroutine. The runner provides it.
type Jobs interface {
	// Do calls run elsewhere and later passes its result to JobDone with the same token, on the
	// LoginApp's goroutine and never from within Do. It does so exactly once for every job. If run
	// panicked or ctx ended, the result is the error.
	Do(token uint64, run func(ctx context.Context) any)
}

// AcceptAll accepts every name with any password; the name is the account. It is for examples,
// tests and closed networks.
type AcceptAll struct{}

// Authenticate implements Auth.
func (AcceptAll) Authenticate(_ context.Context, user, _ string) (Player, error) {
	if user == "" {
		return Player{}, ErrCredentials
	}
	return Player{Account: user}, nil
}

// Table is an Auth for a few known users: it has their passwords. The user is the account.
type Table map[string]string

// Authenticate implements Auth. It compares whole digests, so its time does not tell how much of a
// password was right.
func (t Table) Authenticate(_ context.Context, user, password string) (Player, error) {
	want, ok := t[user]
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256([]byte(password))
	if subtle.ConstantTimeCompare(a[:], b[:]) != 1 || !ok || user == "" {
		return Player{}, ErrCredentials
	}
	return Player{Account: user}, nil
}

// verdict is the result of a job.
type verdict struct {
	player Player
	err    error
}

func authenticate(auth Auth, user, password string) func(context.Context) any {
	return func(ctx context.Context) any {
		player, err := auth.Authenticate(ctx, user, password)
		return verdict{player, err}
	}
}
