package app

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// Watches answers the CellAppMgr's questions about what a process shows, and may have set.
type Watches struct {
	*watch.Tree
	log *slog.Logger
}

// NewWatches returns the values that every process has.
func NewWatches(log *slog.Logger, level logs.Level, r *wire.Report) Watches {
	w := Watches{watch.New(), log}
	w.Add("log/level", "least level that is logged; default is what the handler was made for", level.String, level.Set)
	watch.Show(w.Tree, "ticks/count", "ticks since the start", func() uint64 { return r.Ticks })
	watch.Show(w.Tree, "ticks/late", "of them those that ended after the next was due", func() uint64 { return r.Late })
	return w
}

// Finish adds what the game shows, and tells what is wrong with the values.
func (w *Watches) Finish(game func(*watch.Tree)) error {
	if game != nil {
		game(w.Under("game"))
	}
	return w.Err()
}

// RouteWatches has the questions answered on the channel on which they come.
func RouteWatches[S any](r *Routes[S], l *Links, w *Watches, channel func(S) mercury.ChannelID) {
	On(r, func(from S, m *wire.ReadWatch) { l.Reply(channel(from), w.Answer(m)) })
	On(r, func(from S, m *wire.SetWatch) { l.Reply(channel(from), w.Set(m)) })
}

// Answer answers a question for values.
func (w *Watches) Answer(m *wire.ReadWatch) *wire.Watched {
	a := &wire.Watched{}
	var err error
	if m.List {
		a.Values, a.More, err = w.List(m.Path, m.After, watch.MaxList)
	} else {
		a.Values = make([]watch.Value, 1)
		a.Values[0], err = w.Read(m.Path)
	}
	return Unwatched(a, m.Number, err)
}

// Set sets a value.
func (w *Watches) Set(m *wire.SetWatch) *wire.Watched {
	v, err := w.Tree.Set(m.Path, m.Text)
	if err == nil {
		w.log.Info("a value was set", "path", m.Path, "text", v.Text)
	}
	return Unwatched(&wire.Watched{Values: []watch.Value{v}}, m.Number, err)
}

// Unwatched completes the answer to a question: with an error it has no values.
func Unwatched(a *wire.Watched, number uint64, err error) *wire.Watched {
	a.Number = number
	if err == nil {
		return a
	}
	var f watch.Fault
	errors.As(err, &f)
	reason := err.Error()
	return &wire.Watched{Number: number, Fault: cmp.Or(f, watch.NoAnswer), Reason: reason[:min(len(reason), wire.MaxReason)]}
}
