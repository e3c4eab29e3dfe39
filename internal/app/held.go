package app

import (
	"errors"
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// MaxHeld bounds what is held for one channel, as a multiple of the channel's own limit: 32 MB by
// default. Senders that can wait do so from a quarter of the limit on. So what comes here is one
// small message for each entity that both apps know, and a hundred thousand of those fit. Anything
// beyond is refused with mercury.ErrFull.
const MaxHeld = 4

// heldQueue holds the messages, in order, for which one channel had no room.
type heldQueue struct {
	ch       mercury.ChannelID
	bytes    int
	messages [][]byte
}

func (l *Links) queue(ch mercury.ChannelID) *heldQueue {
	for i := range l.held {
		if l.held[i].ch == ch {
			return &l.held[i]
		}
	}
	return nil
}

// sendOrHold sends a message, or holds it behind those that already wait.
func (l *Links) sendOrHold(ch mercury.ChannelID, encoded []byte) error {
	q := l.queue(ch)
	if q == nil {
		err := l.Transport.Send(ch, encoded)
		if !errors.Is(err, mercury.ErrFull) {
			return err
		}
		l.held = append(l.held, heldQueue{ch: ch})
		q = &l.held[len(l.held)-1]
	}
	if _, limit := l.Transport.Queued(ch); q.bytes+len(encoded) > MaxHeld*limit {
		return mercury.ErrFull
	}
	q.bytes += len(encoded)
	q.messages = append(q.messages, slices.Clone(encoded))
	return nil
}

// goOn sends held messages as far as there is room.
func (l *Links) goOn() {
	for i := range l.held {
		q := &l.held[i]
		n := 0
		for n < len(q.messages) {
			err := l.Transport.Send(q.ch, q.messages[n])
			if errors.Is(err, mercury.ErrFull) {
				break
			}
			switch {
			case err == nil:
			case wire.ReasonOf(err) == wire.SendGone:
				l.failed(wire.ID(q.messages[n][0]), wire.ErrLostWithChannel)
			default:
				l.failed(wire.ID(q.messages[n][0]), err)
			}
			q.bytes -= len(q.messages[n])
			q.messages[n] = nil
			n++
		}
		q.messages = slices.Delete(q.messages, 0, n)
	}
	l.held = slices.DeleteFunc(l.held, func(q heldQueue) bool { return len(q.messages) == 0 })
}
