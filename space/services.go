package space

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// How cell parts call services. See entity/baseapp/service.go, and internal/app for who runs them.

// heardService notes the acks of those that run services.
func (p *Population) heardService(a *flow.Ack, from mercury.Address) {
	if s := p.env.Shared; s != nil && a.FromPart == entity.BasePart && s.Owes(a.From) && p.homeOfBase(a.From) == from {
		s.Heard(a.From)
	}
}

// callService calls a service, by one of its fragments. While news of that may be yet to come, it waits.
func (r *Real) callService(q *entity.Request) error {
	p := r.cell.population
	if p.env.Shared == nil {
		return fmt.Errorf("%w: %s", entity.ErrNoService, q.Def.Name)
	}
	q.To = p.env.Shared.Choose(q.Def.Name, r.e.ID)
	switch {
	case q.To == 0 && p.env.Shared.Expects() || p.early.Waits(q.Def):
		return r.callEarly(q)
	case q.To == 0:
		return fmt.Errorf("%w: %s", entity.ErrNoService, q.Def.Name)
	}
	return r.callFragment(q, flow.RequestID{})
}

func (r *Real) callFragment(q *entity.Request, kept flow.RequestID) error {
	if err := r.callPart(q, kept); err != nil {
		return err
	}
	r.cell.population.env.Shared.Asked(q.To)
	return nil
}

// callEarly keeps a call until it is known who runs the service. It stays here: if the real goes elsewhere
// before, the call fails there, or is counted here.
func (r *Real) callEarly(q *entity.Request) error {
	q.To = 0
	c := script.EarlyCall[*Real]{Part: r, Call: *q, Cause: r.cause}
	if q.OnReply != "" {
		var err error
		if c.ID, err = r.requests.Add(r.Now(), q, r.cause, r.e.Order.Incarnation, limits.Requests); err != nil {
			return err
		}
	}
	if err := r.cell.population.early.Add(c); err != nil {
		r.requests.Take(c.ID)
		return err
	}
	return nil
}

// runEarly makes the calls that have waited for news of services, or gives them up.
func (p *Population) runEarly() {
	if p.early.Len() == 0 {
		return
	}
	for _, c := range p.early.Take(func(d *property.Definition) bool {
		return p.env.Shared.Choose(d.Name, 0) != 0 || !p.env.Shared.Expects()
	}) {
		r := c.Part
		if err := r.makeEarly(&c); err != nil {
			r.cell.count.Refused++
			r.Log().Debug("a call to a service is given up", "service", c.Call.Def.Name, "error", err)
			r.fail(c.ID, err)
		}
	}
}

func (r *Real) makeEarly(c *script.EarlyCall[*Real]) error {
	p, q := r.cell.population, &c.Call
	q.To = p.env.Shared.Choose(q.Def.Name, r.e.ID)
	rec := p.find(r.e.ID)
	switch {
	case rec == nil || rec.real != r || r.gone != staying: // who has it now tells it
		return entity.ErrGone
	case q.To == 0:
		return fmt.Errorf("%w: %s", entity.ErrNoService, q.Def.Name)
	case !c.ID.IsZero():
		var waits bool
		if q.Within, waits = r.requests.Bind(r.Now(), c.ID, q.To); !waits {
			return nil // its time is over, and that was told
		}
	}
	defer func(cause uint64) { r.cause = cause }(r.cause)
	r.cause = c.Cause
	return r.callFragment(q, c.ID)
}
