package property

import (
	"fmt"
	"slices"
	"strings"
)

// checkClientName checks that clients can take a type for the one that its ClientName names, and
// removes the client methods that they would not know: what is not in the list can never be sent. A
// client told the number of one would call another, or break off.
func (s *Schema) checkClientName(d *Definition, r *report) {
	if d.ClientName == "" {
		return
	}
	c := checker{report: r, d: d}
	as := s.byName[d.ClientName]
	switch {
	case as == nil:
		c.problem(d.where, "ClientName", fmt.Sprintf("there is no entity type %q", shorten(d.ClientName)), "name a Parent that is an entity type with a client side")
	case d.where.file != "" && !slices.Contains(d.parents, d.ClientName):
		c.problem(d.where, "ClientName", fmt.Sprintf("%s is no Parent of %s", d.ClientName, d.Name), "name a Parent that is an entity type with a client side")
	case !as.HasClient:
		c.problem(d.where, "ClientName", d.ClientName+" has no client side", "name a Parent that is an entity type with a client side")
	case as.ClientName != "":
		c.problem(d.where, "ClientName", fmt.Sprintf("clients see %s as %s", d.ClientName, as.ClientName), "name "+as.ClientName)
	case !d.HasClient:
		c.notice(d.where, "ClientName", d.Name+" has no client side", "no client sees it, under any name")
	default:
		c.checkSeenAs(as)
	}
}

// checkSeenAs compares what clients know of as with what this type has.
func (c *checker) checkSeenAs(as *Definition) {
	var unseen []string
	last := -1
	for _, q := range as.Properties {
		if !q.ClientVisible() {
			continue
		}
		i := slices.IndexFunc(c.d.Properties, func(p *Property) bool { return p.Name == q.Name })
		if i < 0 {
			c.problem(c.d.where, "Properties/"+q.Name, fmt.Sprintf("clients see the type as %s, which has this property", as.Name), "add it, or remove ClientName")
			continue
		}
		p := c.d.Properties[i]
		if p.Flags != q.Flags || p.Type != q.Type && p.Type.String() != q.Type.String() {
			c.problem(p.where, "Properties/"+p.Name, fmt.Sprintf("clients see the type as %s, where it is %v with flag %v", as.Name, q.Type, q.Flags), "give it that type and flag, or remove ClientName")
		}
		if i < last {
			c.problem(p.where, "Properties/"+p.Name, fmt.Sprintf("clients see the type as %s, which has its properties in another order", as.Name), "declare them in that order, or remove ClientName")
		}
		last = i
	}
	for _, p := range c.d.Properties {
		if p.ClientVisible() && !slices.ContainsFunc(as.Properties, func(q *Property) bool { return p.Name == q.Name && q.ClientVisible() }) {
			unseen = append(unseen, "Properties/"+p.Name)
		}
	}
	unseen = append(unseen, c.checkExposedAs(as, "CellMethods", c.d.CellMethods, as.CellMethods)...)
	unseen = append(unseen, c.checkExposedAs(as, "BaseMethods", c.d.BaseMethods, as.BaseMethods)...)
	unseen = append(unseen, c.cutClientMethods(as)...)
	c.checkCompressionAs(as)
	if len(unseen) > 0 {
		c.notice(c.d.where, "ClientName", fmt.Sprintf("clients see the type as %s, which lacks %s", as.Name, strings.Join(unseen, ", ")), "they stay on the servers, and no client is sent them or can call them")
	}
}

// checkExposedAs compares exposed methods, and returns those that clients will not know.
func (c *checker) checkExposedAs(as *Definition, section string, mine, theirs []*Method) (unseen []string) {
	exposed := make(map[string]bool)
	for _, n := range theirs {
		if n.Exposed == NotExposed {
			continue
		}
		exposed[n.Name] = true
		i := slices.IndexFunc(mine, func(m *Method) bool { return m.Name == n.Name })
		switch {
		case i < 0:
			c.problem(c.d.where, section+"/"+n.Name, fmt.Sprintf("clients see the type as %s, which has this method", as.Name), "add it, or remove ClientName")
		case mine[i].Exposed != n.Exposed || !sameArgs(mine[i].Args, n.Args):
			c.differs(mine[i], as, section)
		}
	}
	for _, m := range mine {
		if m.Exposed != NotExposed && !exposed[m.Name] {
			unseen = append(unseen, section+"/"+m.Name)
		}
	}
	return unseen
}

// cutClientMethods compares client methods, and removes and returns those that clients will not
// know.
func (c *checker) cutClientMethods(as *Definition) (cut []string) {
	c.d.ClientMethods = slices.DeleteFunc(c.d.ClientMethods, func(m *Method) bool {
		unknown := !slices.ContainsFunc(as.ClientMethods, func(n *Method) bool { return n.Name == m.Name })
		if unknown {
			cut = append(cut, "ClientMethods/"+m.Name)
		}
		return unknown
	})
	for i, n := range as.ClientMethods {
		switch at := slices.IndexFunc(c.d.ClientMethods, func(m *Method) bool { return m.Name == n.Name }); {
		case at < 0:
			c.problem(c.d.where, "ClientMethods/"+n.Name, fmt.Sprintf("clients see the type as %s, which has this method", as.Name), "add it, or remove ClientName")
		case !sameArgs(c.d.ClientMethods[at].Args, n.Args):
			c.differs(c.d.ClientMethods[at], as, "ClientMethods")
		case at > i:
			c.problem(c.d.ClientMethods[at].where, "ClientMethods/"+n.Name, fmt.Sprintf("clients see the type as %s, which has its methods in another order", as.Name), "declare them in that order, or remove ClientName")
		}
	}
	return cut
}

func (c *checker) differs(m *Method, as *Definition, section string) {
	c.problem(m.where, section+"/"+m.Name, fmt.Sprintf("clients see the type as %s, where it has other arguments or is exposed otherwise", as.Name), "declare it as there, or remove ClientName")
}

func sameArgs(a, b []Arg) bool {
	return slices.EqualFunc(a, b, func(x, y Arg) bool { return x.Type == y.Type || x.Type.String() == y.Type.String() })
}
