package bots

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// Refusal is a reason for which logins came to nothing, and are tried again.
type Refusal struct {
	// Code is the server's; 0 when no server answered.
	Code protocol.Code
	// Logins is how many logins ended so.
	Logins uint64
	// Reason is the text of the last one.
	Reason string
}

// refusals are in the order of their codes, each there once.
type refusals []Refusal

// note takes down a refusal.
func (r *refusals) note(code protocol.Code, logins uint64, reason string) {
	i, ok := slices.BinarySearchFunc(*r, code, func(x Refusal, code protocol.Code) int { return cmp.Compare(x.Code, code) })
	if !ok {
		*r = slices.Insert(*r, i, Refusal{Code: code})
	}
	(*r)[i].Logins += logins
	(*r)[i].Reason = reason
}

func (r refusals) addTo(st *Stats) {
	for _, x := range r {
		(*refusals)(&st.Refusals).note(x.Code, x.Logins, x.Reason)
	}
}

// passing reports whether a login that failed for err is worth another one: the world is not ready,
// has too much to do, or nobody has answered yet.
func passing(err error) (code protocol.Code, ok bool) {
	var refused *protocol.Refused
	if errors.As(err, &refused) {
		switch refused.Code {
		case protocol.NotReady, protocol.ServerBusy, protocol.WorldFull:
			return refused.Code, true
		}
		return refused.Code, false
	}
	for _, reason := range []error{mercury.ErrTimeout, mercury.ErrPeerClosed, mercury.ErrPeerAborted, mercury.ErrPeerRestarted} {
		if errors.Is(err, reason) {
			return 0, true
		}
	}
	return 0, false
}
