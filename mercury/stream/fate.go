package stream

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/cellscape/cellscape/mercury"
)

// Fate is why a connection that came got no channel. mercury.CarrierStats.Unopened describes each, and
// counts them for operators.
type Fate uint8

// The fates. Adapters count the first ones of what they do not give to Accept.
const (
	Crowded Fate = iota
	Silent
	HungUp
	Unsealed
	Strange
	full
	otherVersion
	elsewhere
	numFates
	judged = numFates // one of the three above, and counted
)

// fates counts connections without a channel.
type fates [numFates]uint64

// refused is how many of them were turned away, whatever they had said.
func (f *fates) refused() (n uint64) {
	for why, count := range f {
		if w := Fate(why); w != Silent && w != HungUp {
			n += count
		}
	}
	return n
}

func (f *fates) tell(s *mercury.CarrierStats) {
	u := &s.Unopened
	u.Crowded, u.Silent, u.HungUp, u.Unsealed, u.Strange = f[Crowded], f[Silent], f[HungUp], f[Unsealed], f[Strange]
	u.Full, u.Version, u.Elsewhere = f[full], f[otherVersion], f[elsewhere]
}

// fate is what a refused hello counts as.
func (r refusal) fate() Fate {
	switch r {
	case refuseSalt:
		return elsewhere
	case refuseFull:
		return full
	}
	return otherVersion
}

// FateOf is the fate of an accepted connection that has ended without a word of its protocol. If it is
// one of TLS, whose Handshake has ended, that says whether the two could not agree.
func FateOf(conn any) Fate {
	secure, ok := conn.(interface{ Handshake() error })
	if !ok {
		return HungUp
	}
	err := secure.Handshake()
	var errno syscall.Errno
	var record tls.RecordHeaderError
	var timed net.Error
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &errno):
		return HungUp
	case errors.As(err, &record):
		return Strange
	case errors.As(err, &timed) && timed.Timeout():
		return Silent
	}
	return Unsealed
}
