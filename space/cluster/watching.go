package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// watchTime is how long an observer waits for the managers' answer: longer than they wait for a
// process.
const watchTime = cellappmgr.AnswerTime + 2*time.Second

// Values returns what a process shows, in the order of paths: the values under a path, such as
// "witness", or all for "". An error is a watch.Fault (errors.Is) that says why there are none, or
// ErrNotConnected.
func (o *Observer) Values(ctx context.Context, of watch.Process, under string) (list []watch.Value, err error) {
	role, err := roleNamed(of)
	q := wire.ReadWatch{Role: role, App: of.Number, Path: under, List: true}
	for more := true; more && err == nil && len(list) < watch.MaxValues; {
		var page wire.Watched
		ask := q // each is numbered
		if page, err = o.watched(ctx, &ask, under); err != nil {
			return nil, err
		}
		list = append(list, page.Values...)
		if more = page.More && len(page.Values) > 0; more {
			q.After = list[len(list)-1].Path
		}
	}
	return list, err
}

// Read returns one value of a process. Errors are as of Values.
func (o *Observer) Read(ctx context.Context, of watch.Process, path string) (watch.Value, error) {
	role, err := roleNamed(of)
	if err != nil {
		return watch.Value{}, err
	}
	return first(o.watched(ctx, &wire.ReadWatch{Role: role, App: of.Number, Path: path}, path))
}

// Set sets a value of a process, and returns it as it is then. Errors are as of Values:
// watch.Refused says what would be taken. In a sealed world it takes an operator's key
// (ErrNotOperator). If watch.NoAnswer or ctx ends it, the value may have been set.
func (o *Observer) Set(ctx context.Context, of watch.Process, path, text string) (watch.Value, error) {
	role, err := roleNamed(of)
	switch {
	case err != nil:
		return watch.Value{}, err
	case o.reads:
		return watch.Value{}, ErrNotOperator
	case len(text) > watch.MaxText:
		return watch.Value{}, watch.Refused.With(fmt.Sprintf("a text of %d bytes: %d at most", len(text), watch.MaxText))
	}
	return first(o.watched(ctx, &wire.SetWatch{Role: role, App: of.Number, Path: path, Text: text}, path))
}

// Trace has every CellApp and BaseApp log the steps in the lives of these entities, and no longer
// those of others: made, handed over, backed up, restored, destroyed. Each is a line "entity trace"
// with the same attributes everywhere: step, entity, type, order, which rises over its life, and
// at, which is the time of the cluster. None ends it. Processes that start later do the same, under
// managers that take the place of these ones, too.
func (o *Observer) Trace(ctx context.Context, ids ...entity.ID) error {
	_, err := o.Set(ctx, watch.Process{Role: status.RoleCellAppMgr}, trace.Path, trace.Format(ids))
	return err
}

// roleNamed is the role of a process.
func roleNamed(of watch.Process) (wire.Role, error) {
	for r := wire.CellAppMgr; r < wire.Observer; r++ {
		if r.String() == of.Role {
			return r, nil
		}
	}
	return 0, watch.NoProcess.With(fmt.Sprintf("%q is no role: take one of %q", of.Role, watch.Roles()))
}

// first is the value of an answer that has one.
func first(a wire.Watched, err error) (watch.Value, error) {
	if err != nil || len(a.Values) == 0 {
		return watch.Value{}, err
	}
	return a.Values[0], nil
}

// watched asks the managers, and waits for the answer.
func (o *Observer) watched(ctx context.Context, q wire.Call, path string) (wire.Watched, error) {
	if len(path) > watch.MaxPath {
		return wire.Watched{}, watch.NoPath.With(fmt.Sprintf("a path of %d bytes: %d at most", len(path), watch.MaxPath))
	}
	type end struct {
		answer wire.Watched
		err    error
	}
	ended := make(chan end, 1)
	var asked error
	err := o.process.Do(func(a host.App) {
		asked = a.(*watcher).ask(q, func(m *wire.Watched, err error) {
			var e end
			if e.err = err; err == nil {
				e.answer = *m // its values are its own
			}
			ended <- e
		})
	})
	if err := errors.Join(err, asked); err != nil {
		return wire.Watched{}, err
	}
	select {
	case e := <-ended:
		if e.err == nil && e.answer.Fault != 0 {
			e.err = faultOf(&e.answer)
		}
		return e.answer, e.err
	case <-ctx.Done():
		return wire.Watched{}, context.Cause(ctx)
	case <-o.process.Done():
		return wire.Watched{}, errors.Join(ErrNotConnected, o.process.Err())
	}
}

// told is a fault with the words that it was told in, which name it already.
type told struct {
	watch.Fault
	reason string
}

// Error is what was told.
func (t *told) Error() string { return t.reason }

// Unwrap is the fault.
func (t *told) Unwrap() error { return t.Fault }

func faultOf(a *wire.Watched) error {
	if a.Reason == "" {
		return a.Fault
	}
	return &told{a.Fault, a.Reason}
}

// ask asks the manager; done is told once how it ended, unless ask returns an error.
func (w *watcher) ask(q wire.Call, done func(*wire.Watched, error)) error {
	if !w.manager.Open() {
		return ErrNotConnected
	}
	_, err := app.Ask(&w.links, w.manager.Channel(), watchTime, q, func(_ time.Duration, answer *wire.Watched, err error) {
		if err != nil {
			err = watch.NoAnswer.With("the managers: " + err.Error())
		}
		done(answer, err)
	})
	return err
}
