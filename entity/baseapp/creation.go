package baseapp

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// CreatePatience is how long a cell part that was asked for with a callback looks for a CellApp which
// makes it: as long as a teleport looks for a cell, and for the same reasons (space.TeleportPatience). A
// CellApp that was told to make it has until it is declared dead.
const CreatePatience = 10 * time.Second

// creation is a cell part that the script has asked for with a callback.
//
//	CreateCellAt, Near       its Place           Current
//	--------------> asking -----------> making -----------> told, after OnGetCell
//	CreateCellAt, Space      the link's --^  |
//	                         other states    | no such space, refused, destroyed,
//	                  |                      | or no CellApp within CreatePatience
//	                  | no answer, gone      v
//	                  +----------> told why, and the link is None
//
// While it is asking, the link is None; while it is making, it is not, and there was no Current yet.
type creation struct {
	request uint64 // the base's number of it, which tells the answers of entities apart
	method  string
	user    int64 // comes back in the reply
	asking  bool
	// offset, direction and parts are of what is to be made.
	offset, direction property.Vector3
	parts             []byte
	until             time.Duration // when making is given up
	why               placement.CreateError
}

// codeCreation codes what the base waits for.
func (b *base) codeCreation(c *codec.Coder) {
	var open []creation
	if b.creation != nil {
		open = append(open, *b.creation)
	}
	codec.List(c, &open, 1, 9, func(c *codec.Coder, x *creation) {
		c.Uvarint(&x.request)
		c.String(&x.method, script.MaxName)
		c.Varint(&x.user)
		c.Bool(&x.asking)
		fields.Vector3(c, &x.offset)
		fields.Vector3(c, &x.direction)
		c.Bytes(&x.parts, migrate.MaxParts)
		codec.Enum(c, &x.why.Code, 0, placement.LastCode)
		c.String(&x.why.Reason, migrate.MaxReason)
	})
	if b.creation == nil && len(open) > 0 {
		b.creation = &open[0]
	}
}

// CreateCellAt is part of entity.Base's host.
func (b *base) CreateCellAt(info entity.CellInfo, method string, user int64) error {
	if err := script.CheckCallback[entity.CellReply](b.kind, method); err != nil {
		return err
	}
	parts, err := b.firstParts(info.Position, info.Direction, info.Init)
	if err != nil {
		return err
	}
	c := &creation{request: b.creations + 1, method: method, user: user, offset: info.Position, direction: info.Direction, parts: parts}
	if info.Space != 0 {
		err = b.makeCell(c, info.Space, info.Position)
	} else {
		err = b.askPlace(c, info.Near)
	}
	if err != nil {
		return err
	}
	b.creations++
	b.creation = c
	return nil
}

// makeCell begins to make the cell part.
func (b *base) makeCell(c *creation, space entity.SpaceID, position property.Vector3) error {
	c.asking = false
	c.until = b.app.now + CreatePatience
	c.why = placement.CreateError{Code: placement.NoPart, Reason: "it was destroyed before it was made"}
	return b.link.Create(b.app.now, cellCopy{Space: space, Position: position, Parts: c.parts})
}

// askPlace asks an entity where it is.
func (b *base) askPlace(c *creation, near property.Mailbox) error {
	m := b.Mailbox(near)
	switch {
	case m.Def == nil || !m.Def.HasCell:
		return fmt.Errorf("create cell of %v near %v: %w", b.id, near, entity.ErrNoPart)
	case m.ID == b.id:
		return fmt.Errorf("create cell of %v near itself: %w", b.id, entity.ErrNoPart)
	}
	c.asking = true
	return b.callOther(&entity.Request{To: m.ID, Kind: entity.CellMailbox, At: m.At, Salt: m.Salt, Def: m.Def,
		Method: int(flow.AskPlace), OnReply: c.method, User: int64(c.request), Within: limits.DefaultCallTime}, flow.RequestID{})
}

// placed takes the answer of the entity to be near to, or why there is none.
func (b *base) placed(request uint64, a *flow.Answer, err error) {
	c := b.creation
	if c == nil || !c.asking || c.request != request || b.removed || b.destroying {
		return // it was destroyed meanwhile
	}
	var at flow.Place
	if err == nil {
		if err = a.Err(); err == nil {
			err = at.Parse(a.Results)
		}
	}
	if err != nil {
		b.endCreation(script.Unmade(err))
		return
	}
	position := property.Vector3{X: at.Position.X + c.offset.X, Y: at.Position.Y + c.offset.Y, Z: at.Position.Z + c.offset.Z}
	if !property.Finite(position) {
		b.endCreation(&placement.CreateError{Code: placement.NotFound, Reason: "the place is out of range"})
		return
	}
	if c.parts, err = migrate.Placed(c.parts, position, c.direction); err == nil {
		err = b.makeCell(c, at.Space, position)
	}
	if err != nil { // what a base makes itself has a place, and the link is None
		b.endCreation(&placement.CreateError{Code: placement.Unknown, Reason: err.Error()})
	}
}

// tickCreation gives up what nobody makes. A CellApp that was told to make it may still do so; then
// it hears that the base knows of no such real.
func (b *base) tickCreation() {
	if c := b.creation; c != nil && !c.asking && !b.app.frozen && b.link.State() == linkLocating && b.app.now >= c.until {
		reason := "no CellApp made it in time"
		if c.why.Code == placement.NoCell {
			reason += ": " + c.why.Reason
		}
		b.giveUpCreation(placement.NoCell, reason)
	}
}

// noteLost takes in why a CellApp could not make the cell part. Another one is tried, unless the first
// one was refused for good; who did not ask for an answer then hears OnLoseCell.
func (b *base) noteLost(m *migrate.Lost) {
	c := b.creation
	switch first := !b.gotCell && b.link.State() == linkLost; {
	case c != nil && !c.asking && first && m.Code != 0:
		b.giveUpCreation(m.Code, m.Reason)
	case c != nil && !c.asking:
		c.why = placement.CreateError{Code: placement.NoCell, Reason: m.Reason}
	case first && m.Code != 0:
		b.link.Gone(b.app.now)
		b.settleLink()
		if !b.removed {
			callHook(b, "OnLoseCell", func(s CellLoser) { s.OnLoseCell() })
		}
	}
}

// giveUpCreation ends the link, which has had no real, and tells the script why.
func (b *base) giveUpCreation(code placement.Code, reason string) {
	b.creation.why = placement.CreateError{Code: code, Reason: reason}
	b.link.Gone(b.app.now)
	b.settleLink()
}

// loseCreation tells the script that the link has ended before there was a cell part.
func (b *base) loseCreation() {
	if c := b.creation; c != nil && !c.asking {
		why := c.why
		b.endCreation(&why)
	}
}

// endCreation tells the script how it has ended, once.
func (b *base) endCreation(err *placement.CreateError) {
	c := b.creation
	if c == nil {
		return
	}
	b.creation = nil
	if b.hears() {
		reply := entity.CellReply{User: c.user}
		if err != nil {
			reply.Err = err
		}
		callBack(b, c.method, reply)
	}
}
