package app

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
)

// MaxAsked bounds the questions that an app waits to hear the answers of: what its errands may
// hold, with room for the logins of a rush.
const MaxAsked = 1 << 16

// Ask asks a question on a channel. done is told once how it ended: with the answer, which is valid
// during the call; with call.ErrTimeout, counted from the last Tick; or with the reason why the
// channel ended. An error means that nothing was asked, and done is not called.
func Ask[A wire.Call](l *Links, ch mercury.ChannelID, timeout time.Duration, question wire.Call, done func(now time.Duration, answer A, err error)) (call.ID, error) {
	l.calls.Max = MaxAsked
	id, err := l.calls.Begin(l.now, ch, timeout, func(now time.Duration, m wire.Call, err error) {
		answer, ok := m.(A)
		if err == nil && !ok {
			err = fmt.Errorf("%w: %T is no answer to %T", wire.ErrMalformed, m, question)
		}
		done(now, answer, err)
	})
	if err != nil {
		return 0, err
	}
	*question.Call() = uint64(id)
	if err := l.Reply(ch, question); err != nil {
		l.calls.Cancel(id)
		return 0, err
	}
	return id, nil
}

// Answered takes an answer that came on a channel. It reports false if nobody there waits for it.
func (l *Links) Answered(now time.Duration, ch mercury.ChannelID, answer wire.Call) bool {
	return l.calls.Answer(now, ch, call.ID(*answer.Call()), answer)
}

// Forget leaves a question without a hearer.
func (l *Links) Forget(id call.ID) { l.calls.Cancel(id) }

// Asked is the number of questions without an answer.
func (l *Links) Asked() int { return l.calls.Open() }

// Abort ends a channel at once, and what was asked on it.
func (l *Links) Abort(ch mercury.ChannelID) {
	l.Transport.Abort(ch)
	l.calls.Closed(l.now, ch, mercury.ErrNoChannel)
}

// Close ends a channel when what was sent on it has arrived, and what was asked on it at once.
func (l *Links) Close(ch mercury.ChannelID) {
	l.Transport.Close(ch)
	l.calls.Closed(l.now, ch, mercury.ErrNoChannel)
}
