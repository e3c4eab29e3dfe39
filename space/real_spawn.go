package space

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// SpawnInfo describes an entity without a base for a cell part to make near another entity.
type SpawnInfo struct {
	// Type is the name of the entity type, which must have a cell part.
	Type string
	// Near is an entity to make it near to, wherever that is: the mailbox of any part of it.
	Near property.Mailbox
	// Position is the way from that entity, in metres. Direction is yaw, pitch and roll in radians.
	Position, Direction property.Vector3
	// Init sets properties before the script sees them. It runs where the entity is asked for, before
	// SpawnNear returns. Nil leaves their defaults.
	Init func(*property.Values)
}

// Check reports what makes no sense.
func (i *SpawnInfo) Check() error {
	if !property.Finite(i.Position) || !property.Finite(i.Direction) {
		return fmt.Errorf("space: spawn %s at %v: a coordinate is not finite or out of range", i.Type, i.Position)
	}
	return nil
}

// SpawnReply answers Real.SpawnNear. It is the argument of the callback that the script named.
type SpawnReply struct {
	// User is what the script gave to SpawnNear.
	User int64
	// Entity is the mailbox of the cell part, zero if there is none.
	Entity property.Mailbox
	// Err says why there is none, as a *placement.CreateError; nil if there is one.
	Err error
}

// SpawnNear makes an entity without a base near another one, wherever that is: on the cell that the
// other one is on, which may be in another space. It returns at once. Later the script's method of that
// name, a func (T) OnX(SpawnReply), is told of the new entity, or why there is none; user comes
// back in it. It is called once, also if this entity has moved meanwhile. Near the entity itself, that
// is before SpawnNear returns.
//
// If the other entity has ended, the answer comes at once; that it is away, with a CellApp that has
// died, takes up to limits.DefaultCallTime. If that CellApp dies after it has made the entity, this one is
// gone, too. The other entity may then be restored to before it was asked, and another one be made.
//
// Errors are entity.ErrGone, entity.ErrNoCallback, entity.ErrNoPart for a mailbox of an entity that
// has no cell part, entity.ErrFull, entity.ErrArguments for too many properties, and that of a type or
// a place that makes no sense.
func (r *Real) SpawnNear(info SpawnInfo, method string, user int64) error {
	if r.gone != staying {
		return entity.ErrGone
	}
	if err := errors.Join(info.Check(), script.CheckCallback[SpawnReply](r.kind, method)); err != nil {
		return err
	}
	d := r.cell.scripts.Schema().Type(info.Type)
	if d == nil || !d.HasCell {
		return fmt.Errorf("space: spawn: there is no entity type %q with a cell part", info.Type)
	}
	near := r.Mailbox(info.Near)
	if near.Def == nil || !near.Def.HasCell {
		return fmt.Errorf("space: spawn near %v: %w", info.Near, entity.ErrNoPart)
	}
	props := property.NewValues(d, property.CellSide, nil)
	if info.Init != nil {
		info.Init(props)
	}
	m := flow.Spawn{Type: d.ID, Position: info.Position, Direction: info.Direction,
		Props: r.cell.compressor.AppendStream(nil, props, property.CellStream, flow.MaxArguments)}
	if near.ID == r.e.ID {
		made := r.cell.spawnNear(&m, r.e.Position)
		r.hearSpawned(method, user, &made)
		return nil
	}
	args := m.Append(nil)
	if len(args) > flow.MaxArguments {
		return fmt.Errorf("%w: %d bytes, at most %d are sent", entity.ErrArguments, len(args), flow.MaxArguments)
	}
	return r.callPart(&entity.Request{To: near.ID, Kind: entity.CellMailbox, At: near.At, Salt: near.Salt, Def: near.Def,
		Method: int(flow.AskSpawn), Args: args, OnReply: method, User: user, Within: limits.DefaultCallTime}, flow.RequestID{})
}

// answerAsk answers who wants to make an entity near this one.
func (r *Real) answerAsk(x *flow.ServerCall) error {
	if x.Request.IsZero() {
		return fmt.Errorf("%w: an ask that wants no answer", entity.ErrRefused)
	}
	a := flow.Answer{Request: x.Request}
	switch x.Method {
	case flow.AskPlace:
		at := flow.Place{Space: r.e.Space, Position: r.e.Position}
		a.Results = at.Append(nil)
	case flow.AskSpawn:
		var m flow.Spawn
		if err := m.Parse(x.Args); err != nil {
			return err
		}
		made := r.cell.spawnNear(&m, r.e.Position)
		a.Results = made.Append(nil)
	}
	return r.sendAnswer(x.Caller, x.CallerPart, &a)
}

// spawnNear makes an entity for another one near a place, or says why not.
func (c *Cell) spawnNear(m *flow.Spawn, at property.Vector3) (s flow.Spawned) {
	d, err := c.definition(m.Type)
	var props *property.Values
	if err == nil {
		props = property.NewValues(d, property.CellSide, nil)
		err = migrate.ReadProps(m.Props, props, c.compressor)
	}
	to := sum(at, m.Position)
	switch {
	case err != nil:
		s.Refuse(placement.Unknown, err.Error())
	case c.ended:
		s.Refuse(placement.NoSpace, ErrEnded.Error())
	case !property.Finite(to) || !property.Finite(m.Direction):
		s.Refuse(placement.NotFound, "the place is out of range")
	default:
		id, err := c.spawn(d, to, m.Direction, props)
		switch {
		case errors.Is(err, ErrFull):
			s.Refuse(placement.Full, err.Error())
			return s
		case err != nil:
			s.Refuse(placement.NoCell, err.Error())
			return s
		}
		s = flow.Spawned{ID: id, Type: d.ID, App: c.self}
	}
	return s
}

// tellSpawned tells the script what became of an entity that it wanted: by an answer, or by err.
func (r *Real) tellSpawned(x *script.Waiting, a *flow.Answer, err error) {
	var s flow.Spawned
	if err == nil {
		if err = a.Err(); err == nil {
			err = s.Parse(a.Results)
		}
	}
	if err != nil {
		why := script.Unmade(err)
		s.Refuse(why.Code, why.Reason)
	}
	r.hearSpawned(x.Callback, x.User, &s)
}

func (r *Real) hearSpawned(method string, user int64, s *flow.Spawned) {
	reply := SpawnReply{User: user}
	if s.Code != 0 {
		reply.Err = &placement.CreateError{Code: s.Code, Reason: s.Reason}
	} else {
		m := entity.Mailbox{ID: s.ID, Kind: entity.CellMailbox, Def: r.cell.scripts.Schema().ByID(s.Type), At: s.App.At, Salt: s.App.Salt}
		reply.Entity = m.Value()
	}
	var err error
	r.guard(method, func() { err = script.CallBack(r.kind, r.script, method, reply) })
	if err != nil {
		r.cell.count.Errors++
		r.Log().Error("no method of this name for an answer", "error", err)
	}
}
