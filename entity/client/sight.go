package client

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// This file handles what the cell part shows of other entities.

func (c *Client) onEnter(body []byte) error {
	var m protocol.Enter
	if err := m.Parse(body); err != nil {
		return err
	}
	if m.ID == c.player.ID {
		return malformed("the player's own entity enters its own area of interest")
	}
	r, err := c.newReplica(m.ID, m.Type, property.OtherClientSide)
	if err != nil {
		return err
	}
	if err := c.fill(r, m.Props); err != nil {
		return err
	}
	return c.enter(r, m.Alias, m.Position, m.Direction)
}

// enter brings a replica into the area of interest.
func (c *Client) enter(r *Replica, alias uint32, position, direction property.Vector3) error {
	r.alias, r.placed, r.told, r.entered = alias, byBundle(c.bundle), c.bundle, c.bundle
	r.Position, r.Direction = position, direction
	// A second Enter replaces the first, since it is newer.
	if !c.leave(r.ID) && c.Len() >= MaxEntities {
		return malformed("more than %d entities", MaxEntities)
	}
	if !c.aliases.put(r) {
		return malformed("alias %d names two entities", alias)
	}
	c.entities.put(r)
	c.carry(r, 0)
	if c.cfg.Filter != nil {
		r.SetFilter(c.cfg.Filter(r))
	}
	if c.state != Closed { // by who has heard that a former one left
		r.tellEntered()
	}
	if c.state != Closed && c.cfg.Events.Entered != nil {
		c.cfg.Events.Entered(r)
	}
	return nil
}

// fill gives a new replica the values that it is seen with.
func (c *Client) fill(r *Replica, props []byte) error {
	props, err := c.scratch.compressor.Unpack(props, r.Def.Packing(property.OtherClientStream), protocol.MaxProps)
	if err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	return load(r, props)
}

// load gives a replica whole values.
func load(r *Replica, props []byte) error {
	return protocol.Whole(r.Def, props, func(i int, v property.Value) error {
		if err := r.Props.Load(i, v); err != nil {
			return malformed("%w", err)
		}
		return nil
	})
}

func (c *Client) onLeave(body []byte) error {
	id, err := protocol.ParseLeave(body)
	if err != nil {
		return err
	}
	if !c.leave(id) {
		c.stats.UnknownEntities++
	}
	return nil
}

func (c *Client) leave(id entity.ID) bool {
	r := c.entities.remove(id)
	if r == nil {
		return false
	}
	c.loseControl(r)
	c.alight(r)
	c.aliases.remove(r)
	r.tellLeft()
	if c.state != Closed && c.cfg.Events.Left != nil {
		c.cfg.Events.Left(r)
	}
	return true
}

func (c *Client) onCall(body []byte) error {
	var m protocol.Call
	if err := m.Parse(body); err != nil {
		return err
	}
	r := c.Entity(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	if int(m.Method) >= len(r.Def.ClientMethods) {
		return malformed("%s has no client method %d", r.Def.Name, m.Method)
	}
	method := r.Def.ClientMethods[m.Method]
	return c.called(r, method, m.Args)
}

// called makes a call at a replica, and tells of it.
func (c *Client) called(r *Replica, method *property.Method, body []byte) error {
	args, err := method.ReadArgs(body)
	if err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	if err := r.call(method.Index, body); err != nil {
		return malformed("%s: %w", r.Def.Name, err)
	}
	if c.state != Closed && c.cfg.Events.Called != nil {
		c.cfg.Events.Called(r, method, args)
	}
	return nil
}

func (c *Client) onRest(body []byte) error {
	var m protocol.Place
	if err := m.ParseRest(body); err != nil {
		return err
	}
	r := c.entities.get(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	used, moves := c.hearing(r, func() (used, moves bool) { return r.rest(c.bundle, m.Position, m.Direction) })
	if used {
		r.heard = 0
		r.play(Rests)
	} else {
		c.stats.StalePositions++
	}
	c.tellMoved(r, moves)
	if moves {
		c.carry(r, 0)
	}
	return nil
}

// tellMoved tells that an entity has moved.
func (c *Client) tellMoved(r *Replica, moves bool) {
	if !moves || c.muted {
		return
	}
	r.tellMoved()
	if c.state != Closed && c.cfg.Events.Moved != nil {
		c.cfg.Events.Moved(r)
	}
}

// positions applies an unreliable message of the proxy.
func (c *Client) positions(packet []byte) error {
	if c.state != Playing {
		// It overtook Attached.
		return nil
	}
	c.stats.Packets++
	c.stats.PositionBytes += uint64(len(packet))
	p := &c.scratch.reader
	p.Begin(packet)
	if p.More() {
		if err := c.packet(&p.Head); err != nil {
			c.stats.StalePositions++
			return nil
		}
	}
	c.fetch(p.Aliases)
	for p.NextPlace() {
		if err := c.moved(&p.Head, &p.Place); err != nil {
			return err
		}
	}
	for p.NextNews() {
		if err := c.news(&p.Head, &p.News); err != nil {
			return err
		}
	}
	return p.End()
}

// fetch touches all replicas of which a packet tells. They lie scattered over memory; asked for together
// they come in the time of a few, and one after the other they would cost more than all else that is done.
func (c *Client) fetch(aliases []uint32) {
	sum := uint32(0)
	for _, alias := range aliases {
		if r := c.aliases.get(alias); r != nil {
			sum += r.packet
		}
	}
	c.scratch.fetched = sum
}

// errStale is for a packet that is of no use, but is nobody's fault.
var errStale = errors.New("client: packet of another time")

// packet notes that a packet has come. Each incarnation has its own numbers, and packets of another
// may still be under way. One that has overtaken a bundle is used as far as it goes, but does not
// count as seen: it may tell of entities that enter in that bundle, and whose places in it are lost
// on this client.
func (c *Client) packet(h *protocol.PacketHead) error {
	if !c.inWorld || h.Epoch != uint8(c.incarnation) || h.After > c.bundle+maxAhead {
		return errStale
	}
	if h.After <= c.bundle {
		c.seen.Note(h.Number)
	}
	return nil
}

func (c *Client) moved(h *protocol.PacketHead, m *protocol.Moved) error {
	r := c.aliases.get(m.Alias)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	var used, moves, ok bool
	rode := r.riding() != nil
	if len(c.charges) == 0 {
		used, ok = r.follow(h, m)
		moves = used
	} else {
		used, moves = c.hearing(r, func() (used, moves bool) {
			used, ok = r.follow(h, m)
			return used, true
		})
	}
	switch {
	case !ok:
		return malformed("a place outside of any space")
	case !used:
		c.stats.StalePositions++
		return nil
	}
	c.stats.Places++
	now := uint32(c.now / time.Millisecond)
	if r.heard > 0 {
		c.stats.Ages.note(time.Duration(now-r.heard) * time.Millisecond)
	}
	r.heard = now
	r.play(Moves)
	if rode {
		c.tellRide(r) // the word that it rides no more finds that told
	}
	c.tellMoved(r, moves)
	if moves {
		c.carry(r, 0)
	}
	if c.state == Closed {
		return errOver
	}
	return nil
}

func (c *Client) onSpaceData(body []byte) error {
	var m protocol.SpaceData
	if err := m.Parse(body); err != nil {
		return err
	}
	d := entity.SpaceDatum{Key: m.Key, ID: m.Entry, Value: slices.Clone(m.Value)}
	c.dropData(d)
	if len(c.data) >= MaxSpaceData {
		return malformed("more than %d entries of space data", MaxSpaceData)
	}
	i, _ := c.findData(d.Key, d.ID)
	c.data = slices.Insert(c.data, i, d)
	c.tellData(d)
	return nil
}

func (c *Client) onSpaceDataGone(body []byte) error {
	var m protocol.SpaceDataGone
	if err := m.Parse(body); err != nil {
		return err
	}
	d := entity.SpaceDatum{Key: m.Key, ID: m.Entry, Removed: true}
	c.dropData(d)
	c.tellData(d)
	return nil
}

// onSpaceDataAnew forgets all entries. Those that there are follow.
func (c *Client) onSpaceDataAnew(body []byte) error {
	if len(body) > 0 {
		return malformed("space data anew with a body")
	}
	had := c.data
	c.data = nil
	for _, d := range had {
		c.tellData(entity.SpaceDatum{Key: d.Key, ID: d.ID, Removed: true})
	}
	return nil
}

// dropData forgets what a change replaces.
func (c *Client) dropData(d entity.SpaceDatum) {
	c.data = slices.DeleteFunc(c.data, func(x entity.SpaceDatum) bool { return d.Replaces(x.Key, x.ID) })
}

func (c *Client) tellData(d entity.SpaceDatum) {
	if c.cfg.Events.SpaceData != nil {
		d.Value = slices.Clone(d.Value)
		c.cfg.Events.SpaceData(d)
	}
}

func (c *Client) findData(key uint16, id entity.DataID) (int, bool) {
	return slices.BinarySearchFunc(c.data, key, func(d entity.SpaceDatum, key uint16) int {
		return cmp.Or(cmp.Compare(d.Key, key), cmp.Compare(d.ID, id))
	})
}
