package cellappmgr

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// Observers ask what processes show, and have it set, by way of the manager; see package watch. It
// keeps nothing of a question but who waits for the answer.
//
//	            the process answers
//	asked ────────────────────────────────▶ its answer
//	   │        AnswerTime is over, or its channel ends
//	   └──────────────────────────────────▶ NoAnswer
//
// Invariants: each question is answered once, unless its observer leaves. No observer has more than
// MaxQuestions open.

const (
	// AnswerTime is how long a process may take to answer: longer than a long tick, and shorter
	// than HangTimeout.
	AnswerTime = 3 * time.Second
	// MaxQuestions is how many questions of one observer may wait for answers: one for each process
	// of a large world.
	MaxQuestions = 256
)

// routeWatches registers the handlers of what observers ask, and of the answers.
func (m *CellAppMgr) routeWatches() {
	r := &m.routes
	app.On(r, func(from sender, q *wire.ReadWatch) {
		own := func() *wire.Watched { return m.watches.Answer(q) }
		m.question(from, q.Number, q.Role, q.App, own, &wire.ReadWatch{Role: q.Role, App: q.App, Path: q.Path, After: q.After, List: q.List})
	})
	app.On(r, func(from sender, q *wire.SetWatch) {
		m.log.Info("a value is to be set", "by", from.app.String(), "address", from.app.address.String(), "role", q.Role, "number", q.App, "path", q.Path, "text", q.Text)
		own := func() *wire.Watched {
			answer := m.watches.Set(q)
			if answer.Fault == 0 {
				m.keepSetting(answer.Values[0].Path, answer.Values[0].Text)
			}
			return answer
		}
		m.question(from, q.Number, q.Role, q.App, own, &wire.SetWatch{Role: q.Role, App: q.App, Path: q.Path, Text: q.Text})
	})
	app.On(r, func(from sender, a *wire.Watched) { m.links.Answered(from.now, from.ch, a) }) // or too late
}

// question answers one about the manager itself, and passes on any other.
func (m *CellAppMgr) question(from sender, number uint64, role wire.Role, n uint32, own func() *wire.Watched, q wire.Call) {
	if role == wire.CellAppMgr && n <= 1 {
		m.send(from.app, own())
		return
	}
	a, err := m.named(role, n)
	switch {
	case err != nil:
	case a.channel == 0:
		err = watch.NoAnswer.With(a.String() + " has lost its channel to the manager, and has time to come back")
	case from.app.questions >= MaxQuestions:
		err = watch.Busy.With(fmt.Sprintf("%d of this observer: wait for an answer", MaxQuestions))
	default:
		from.app.questions++
		err = m.askWatched(a, q, func(answer *wire.Watched, err error) {
			from.app.questions--
			if m.byChannel[from.ch] == from.app { // else nobody waits
				m.send(from.app, passedOn(answer, number, err))
			}
		})
		if err != nil {
			from.app.questions--
		}
	}
	if err != nil {
		m.send(from.app, app.Unwatched(&wire.Watched{}, number, err))
	}
}

// passedOn is the answer of a process as an observer is told it.
func passedOn(answer *wire.Watched, number uint64, err error) *wire.Watched {
	if err != nil {
		return app.Unwatched(&wire.Watched{}, number, err)
	}
	a := *answer
	a.Number = number
	return &a
}

// askWatched asks a process. done is told how it ended, unless an error says that nothing was
// asked.
func (m *CellAppMgr) askWatched(a *member, q wire.Call, done func(answer *wire.Watched, err error)) error {
	name := a.String()
	_, err := app.Ask(&m.links, a.channel, AnswerTime, q, func(_ time.Duration, answer *wire.Watched, err error) {
		if err != nil {
			err = watch.NoAnswer.With(fmt.Sprintf("%s: %v", name, err))
		}
		done(answer, err)
	})
	if err != nil {
		return watch.NoAnswer.With(fmt.Sprintf("%s: %v", name, err))
	}
	return nil
}

// named returns the member of a role and a number, or of 0 if there is only one.
func (m *CellAppMgr) named(role wire.Role, number uint32) (found *member, err error) {
	n := 0
	for _, a := range m.members {
		if a.role != role || a.missing || role == wire.Observer {
			continue
		}
		if n++; a.number == number || number == 0 {
			found = a
		}
	}
	switch {
	case found == nil || number == 0 && n > 1:
		return nil, watch.NoProcess.With(fmt.Sprintf("%v %d: there are %d of them now, and the status has their numbers", role, number, n))
	}
	return found, nil
}

// tracing is which entities all processes are to trace; see package trace.
type tracing struct {
	set  bool // since this manager leads
	text string
}

// traceAll has all processes trace the same entities.
func (m *CellAppMgr) traceAll(text string) error {
	ids, err := trace.Parse(text)
	if err != nil {
		return err
	}
	m.tracing = tracing{true, trace.Format(ids)}
	for _, a := range m.members {
		m.tellTraced(a)
	}
	return nil
}

// tellTraced tells a process what to trace, if that was ever said. (One that does not hear it loses
// its channel, and is told again over the next.)
func (m *CellAppMgr) tellTraced(a *member) {
	if !m.tracing.set || !a.reports() || a.channel == 0 {
		return
	}
	q := &wire.SetWatch{Role: a.role, App: a.number, Path: trace.Path, Text: m.tracing.text}
	done := func(answer *wire.Watched, err error) {
		if err == nil && answer.Fault != 0 {
			err = answer.Fault.With(answer.Reason)
		}
		if err != nil {
			m.log.Warn("a process does not trace the entities", "app", a.String(), "error", err)
		}
	}
	if err := m.askWatched(a, q, done); err != nil {
		done(nil, err)
	}
}
