package property

import (
	"fmt"
	"slices"
)

func (c *checker) checkMethods(section string, methods []*Method, hasSide bool, part string, side Side) {
	d := c.d
	if len(methods) > MaxMethods {
		c.problem(d.where, section, fmt.Sprintf("more than %d methods", MaxMethods), "merge some")
		return
	}
	if len(methods) == 0 {
		return
	}
	seen := make(map[string]bool, len(methods))
	for _, m := range methods {
		at := section + "/" + m.Name
		c.checkMember(m.Name, m.Component, m.where, section)
		if seen[m.Name] {
			c.problem(m.where, at, "method is declared twice", "remove one of the two")
		}
		seen[m.Name] = true
		if f, ok := c.flags[m.Name]; ok && side.holds(f) {
			c.problem(m.where, at, "a property of the "+part+" has that name too", "rename one of the two: a struct cannot have both")
		}
		if !hasSide {
			c.problem(m.where, at, fmt.Sprintf("%s has no %s", d.Name, part), "move the method, or let the type have a "+part)
		}
		c.checkMethod(m, at, part)
	}
}

func (c *checker) checkMethod(m *Method, at, part string) {
	client := part == "client"
	switch {
	case m.Exposed > ExposedAll:
		c.problem(m.where, at+"/Exposed", fmt.Sprintf("%d is no exposure", m.Exposed), "use ExposedOwn or ExposedAll")
	case client && m.Exposed != NotExposed:
		c.problem(m.where, at+"/Exposed", "a client method cannot be exposed", "remove Exposed: the server may call every client method")
	case part == "base" && m.Exposed == ExposedAll:
		c.problem(m.where, at+"/Exposed", "a base method cannot be exposed to ALL_CLIENTS", "leave Exposed empty or state OWN_CLIENT: only the own client reaches a base")
	case m.Exposed != NotExposed && !c.d.HasClient:
		c.notice(m.where, at, fmt.Sprintf("it is exposed, but %s has no client side", c.d.Name), "no client can call it")
	}
	if m.ReplayExposure > ReplayAll {
		c.problem(m.where, at+"/ReplayExposureLevel", fmt.Sprintf("%d is no replay exposure", m.ReplayExposure), "use ReplayOther, ReplayNone or ReplayAll")
	}
	if m.WarnBytes < 0 {
		c.problem(m.where, at, fmt.Sprintf("WarnBytes is %d", m.WarnBytes), "state bytes, 0 for no warning")
	}
	if !(m.DetailDistance >= 0) {
		c.problem(m.where, at+"/DetailDistance", fmt.Sprintf("%v is not a distance", m.DetailDistance), "state metres, 0 for no limit")
	}
	if client && len(m.Returns) > 0 {
		c.problem(m.where, at+"/ReturnValues", "a client method cannot return values", "let the client call an exposed method instead")
	}
	c.checkArgs(m, at+"/Args", m.Args, client || m.Exposed != NotExposed)
	c.checkArgs(m, at+"/ReturnValues", m.Returns, false)
}

func (c *checker) checkArgs(m *Method, at string, args []Arg, fromClient bool) {
	if len(args) > MaxArgs {
		c.problem(m.where, at, fmt.Sprintf("more than %d", MaxArgs), "gather some in a FIXED_DICT")
		return
	}
	for i, a := range args {
		at := at + "/" + argName(i, a)
		if a.Name != "" {
			if err := checkName(a.Name); err != nil {
				c.problem(m.where, at, err.Error(), nameRemedy)
			}
			if slices.ContainsFunc(args[:i], func(b Arg) bool { return b.Name == a.Name }) {
				c.problem(m.where, at, "argument is declared twice", "rename one of the two")
			}
		}
		if a.Type == nil {
			c.problem(m.where, at, "argument has no type", "state one")
		} else if fromClient && a.Type.hasMailbox() {
			c.problem(m.where, at, "a MAILBOX cannot be passed from or to a client", "use ENTITY_ID")
		}
	}
}
