package baseapp

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// callService calls a service, by one of its fragments. While news of that may be yet to come, it waits.
func (b *base) callService(q *entity.Request) error {
	a := b.app
	q.To = a.shared.Choose(q.Def.Name, b.id)
	switch {
	case q.To == 0 && a.shared.Expects() || a.early.Waits(q.Def):
		return b.callEarly(q)
	case q.To == 0:
		return fmt.Errorf("%w: %s", entity.ErrNoService, q.Def.Name)
	}
	return b.callFragment(q, flow.RequestID{})
}

// callFragment calls the fragment that was chosen, which may be the caller.
func (b *base) callFragment(q *entity.Request, kept flow.RequestID) error {
	if q.To == b.id {
		b.requests.Take(kept)
		return b.callSelf(q)
	}
	if err := b.callOther(q, kept); err != nil {
		return err
	}
	b.app.shared.Asked(q.To)
	return nil
}

// callEarly keeps a call until it is known who runs the service.
func (b *base) callEarly(q *entity.Request) error {
	q.To = 0
	c := script.EarlyCall[*base]{Part: b, Call: *q}
	if q.OnReply != "" {
		var err error
		if c.ID, err = b.requests.Add(b.app.game, q, 0, b.life(), limits.BaseRequests); err != nil {
			return err
		}
	}
	if err := b.app.early.Add(c); err != nil {
		b.requests.Take(c.ID)
		return err
	}
	return nil
}

// tickEarly makes the calls that have waited for news of services, or gives them up.
func (a *BaseApp) tickEarly() {
	if a.early.Len() == 0 {
		return
	}
	for _, c := range a.early.Take(func(d *property.Definition) bool {
		return len(a.shared.Fragments(d.Name)) > 0 || !a.shared.Expects()
	}) {
		c.Part.sayEarly(&c)
	}
	a.tellFailed()
}

func (b *base) sayEarly(c *script.EarlyCall[*base]) {
	if err := b.makeEarly(c); err != nil {
		b.app.refused("a call to a service", "entity", b.id, "service", c.Call.Def.Name, "error", err)
		b.fail(c.ID, err)
	}
}

func (b *base) makeEarly(c *script.EarlyCall[*base]) error {
	a, q := b.app, &c.Call
	q.To = a.shared.Choose(q.Def.Name, b.id)
	switch {
	case a.byID[b.id] != b || b.ended(): // another life of it is told, or nobody
		return entity.ErrNoPart
	case q.To == 0:
		return fmt.Errorf("%w: %s", entity.ErrNoService, q.Def.Name)
	case !c.ID.IsZero():
		var waits bool
		if q.Within, waits = b.requests.Bind(a.game, c.ID, q.To); !waits {
			return nil // its time is over, and that was told
		}
	}
	return b.callFragment(q, c.ID)
}
