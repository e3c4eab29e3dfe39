package space

import (
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/migrate"
)

// step logs a step in the life of an entity. Ask traces first: what is said costs something.
func (p *Population) step(e *presence.Entity, step string, more ...any) {
	p.env.Trace.Step(p.clusterNow(), e.ID, e.Def.Name, e.Order, step, append(more, "space", e.Space)...)
}

// traces reports whether an entity's steps are logged.
func (p *Population) traces(e *presence.Entity) bool { return p.env.Trace.Of(e.ID) }

// madeStep is the step in which a base has its real made.
func madeStep(restored bool) string {
	if restored {
		return "restored"
	}
	return "created"
}

// goneStep is the step by which a real goes to another cell: out there, and in here.
func goneStep(a *migrate.Arrival, in bool) string {
	switch teleports := a.Teleports(); {
	case teleports && in:
		return "teleport in"
	case teleports:
		return "teleport out"
	case in:
		return "offload in"
	}
	return "offload out"
}

// traceMade logs that a real came to be here, if it is traced.
func (r *Real) traceMade(step string) {
	p := r.cell.population
	if !p.traces(r.e) {
		return
	}
	p.step(r.e, step, "cell", r.cell.id, "base", r.e.Base, "x", r.e.Position.X, "z", r.e.Position.Z, "client", r.HasClient())
}

// traceEnd logs that a real is no more here, and why.
func (r *Real) traceEnd() {
	p := r.cell.population
	switch r.gone {
	case destroyed:
		p.step(r.e, "destroyed")
	case lost:
		p.step(r.e, "lost", "reason", r.reason)
	case refused:
		p.step(r.e, "dropped")
	case handedOver: // to another cell here, which takes it at once
		p.step(r.e, "teleport out")
	}
}

// traceClient logs that the client is another.
func (r *Real) traceClient() {
	p := r.cell.population
	switch {
	case !p.traces(r.e):
	case r.HasClient():
		p.step(r.e, "client attached", "session", r.session.Number)
	default:
		p.step(r.e, "client lost")
	}
}
