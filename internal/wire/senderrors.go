package wire

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/mercury"
)

// ErrLostWithChannel is the reason for held messages whose channel broke before they were sent.
var ErrLostWithChannel = errors.New("wire: the channel broke before there was room")

// SendReason is why a message was not sent.
type SendReason uint8

// The reasons. Some occur in a sound cluster, and something then makes up for the message; the
// others are faults. See Expected.
const (
	// SendGone: the channel had ended or never opened, because its peer died, closed it, or was out
	// of reach. The owner of the message sends it again when the peer is back.
	SendGone SendReason = 1 + iota
	// SendLost: the message was held for a channel that broke before there was room. The owner
	// sends it again, as for SendGone.
	SendLost
	// SendSlowClient: the client does not take what it is sent, and is closed for that.
	SendSlowClient
	// SendFull: there was no room although senders hold back before that. A fault.
	SendFull
	// SendTooLong: the message was above the limit of its kind. A fault of its maker.
	SendTooLong
	// SendCramped: the channel to the client had no room for a packet of places. The cell is told
	// how much room there is, and newer places follow.
	SendCramped
	// SendStale: a packet of places was made for a former client or a former life of its entity.
	// The present one is told everything anew.
	SendStale
	// SendOther: an unforeseen kind of fault.
	SendOther
	// SendKept: the message was longer than any can be on its channel. Its maker was told, and keeps
	// what it would have given away: an entity stays, or its teleport fails.
	SendKept

	lastSendReason = SendKept
)

// String names the reason, for people.
func (r SendReason) String() string {
	return enum.Name(r, "reason", []string{
		SendGone:       "peer gone",
		SendLost:       "lost with its channel",
		SendSlowClient: "slow client",
		SendFull:       "full",
		SendTooLong:    "too long",
		SendCramped:    "no room for places",
		SendStale:      "outlived",
		SendOther:      "other",
		SendKept:       "too long, and kept",
	})
}

// Expected reports whether something makes up for a message that was not sent for this reason, so
// that its loss is not a fault.
func (r SendReason) Expected() bool {
	switch r {
	case SendGone, SendLost, SendSlowClient, SendCramped, SendStale, SendKept:
		return true
	}
	return false
}

// ReasonOf returns the reason that an error of a Transport's Send stands for.
func ReasonOf(err error) SendReason {
	switch {
	case errors.Is(err, ErrLostWithChannel):
		return SendLost
	case errors.Is(err, mercury.ErrFull):
		return SendFull
	case errors.Is(err, mercury.ErrMessageTooLong):
		return SendTooLong
	}
	for _, gone := range [...]error{mercury.ErrNoChannel, mercury.ErrTimeout, mercury.ErrPeerClosed, mercury.ErrPeerAborted,
		mercury.ErrPeerRestarted, mercury.ErrUnacked, mercury.ErrAddress} {
		if errors.Is(err, gone) {
			return SendGone
		}
	}
	return SendOther
}

// SendError counts the messages of one id that were not sent for one reason.
type SendError struct {
	Reason SendReason
	ID     ID
	Count  uint64
}

// SendErrors are counts, sorted by reason and id, at most one for each pair, and few in practice.
type SendErrors []SendError

// maxSendErrors is the number of reasons times that of ids.
const maxSendErrors = int(lastSendReason) * 256

// Add counts n messages.
func (s *SendErrors) Add(r SendReason, id ID, n uint64) {
	i, found := slices.BinarySearchFunc(*s, SendError{Reason: r, ID: id}, func(a, b SendError) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.ID, b.ID))
	})
	if !found {
		*s = slices.Insert(*s, i, SendError{Reason: r, ID: id})
	}
	(*s)[i].Count += n
}

// AddAll adds the counts of t.
func (s *SendErrors) AddAll(t SendErrors) {
	for _, e := range t {
		s.Add(e.Reason, e.ID, e.Count)
	}
}

// Faults is how many messages were not sent for reasons that are faults.
func (s SendErrors) Faults() (n uint64) {
	for _, e := range s {
		if !e.Reason.Expected() {
			n += e.Count
		}
	}
	return n
}

func (s SendErrors) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, e := range s {
		b = append(b, byte(e.Reason), byte(e.ID))
		b = binary.AppendUvarint(b, e.Count)
	}
	return b
}

func readSendErrors(r *codec.Reader) (s SendErrors) {
	for range r.Count(maxSendErrors, 3) {
		reason, id, n := SendReason(r.U8()), ID(r.U8()), r.Uvarint()
		if reason < 1 || reason > lastSendReason {
			r.Fail(errors.New("unknown reason of a message not sent"))
		}
		if r.Err() != nil {
			return nil
		}
		s.Add(reason, id, n)
	}
	return s
}
