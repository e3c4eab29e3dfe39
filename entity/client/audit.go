package client

import (
	"fmt"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// onAudit compares what the client holds with what the server says it should.
func (c *Client) onAudit(body []byte) error {
	var m protocol.Audit
	if err := m.Parse(body); err != nil {
		return err
	}
	diff, err := c.audit(&m)
	if err != nil {
		return err
	}
	c.stats.Audits++
	c.stats.AuditDiffs += uint64(len(diff))
	if c.cfg.Events.Audited != nil {
		c.cfg.Events.Audited(diff)
	}
	return nil
}

// audit returns a line for each difference: first the player's own entity, then the server's list
// in its order, then other entities that the client holds, by id.
func (c *Client) audit(m *protocol.Audit) (diff []string, err error) {
	a := auditor{expected: make(map[*Replica]bool, len(m.Entities))}
	if m.Own.ID != c.player.ID {
		a.differ("the player's entity is %v, the server says %v", c.player.ID, m.Own.ID)
	} else if err := a.compare(c.player, &m.Own); err != nil {
		return nil, err
	}
	for i := range m.Entities {
		x := &m.Entities[i]
		r := c.entities.get(x.ID)
		switch {
		case r == nil:
			a.differ("entity %v (type %d) is missing", x.ID, x.Type)
			continue
		case a.expected[r]:
			a.differ("entity %v is listed twice by the server", x.ID)
			continue
		}
		a.expected[r] = true
		if err := a.compare(r, x); err != nil {
			return nil, err
		}
	}
	for r := range c.Entities() {
		if !a.expected[r] {
			a.differ("entity %v (%s) should not be in sight", r.ID, r.Def.Name)
		}
	}
	return a.diff, nil
}

type auditor struct {
	expected map[*Replica]bool
	diff     []string
}

func (a *auditor) differ(format string, args ...any) {
	a.diff = append(a.diff, fmt.Sprintf(format, args...))
}

// compare compares one entity. Positions at rest must be exact, since they were sent reliably and
// without loss of precision.
func (a *auditor) compare(r *Replica, x *protocol.Expected) error {
	if r.Def.ClientID != x.Type {
		a.differ("entity %v is of type %s (%d), the server says %d", r.ID, r.Def.Name, r.Def.ClientID, x.Type)
		return nil
	}
	if r.Position != x.Position {
		a.differ("entity %v (%s) is at %v, the server says %v", r.ID, r.Def.Name, r.Position, x.Position)
	}
	if r.Direction != x.Direction {
		a.differ("entity %v (%s) looks to %v, the server says %v", r.ID, r.Def.Name, r.Direction, x.Direction)
	}
	return protocol.Whole(r.Def, x.Props, func(i int, v property.Value) error {
		name := r.Def.Properties[i].Name
		switch held := r.Props.Get(i); {
		case !r.Props.Holds(i):
			a.differ("entity %v: %s.%s must not be visible to this client", r.ID, r.Def.Name, name)
		case !property.Equal(held, v):
			a.differ("entity %v: %s.%s is %v, the server says %v", r.ID, r.Def.Name, name, held, v)
		}
		return nil
	})
}
