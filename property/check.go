package property

import (
	"fmt"
	"math"
)

// checker checks one Definition, whether it comes from a tree or from Go. On the way it fits defaults and resolves the
// labels of detail levels.
type checker struct {
	*report
	d *Definition
}

func checkDefinition(d *Definition, r *report) {
	c := checker{r, d}
	if err := checkName(d.Name); err != nil {
		c.fault(d.where, "", "entity type: "+err.Error(), nameRemedy)
	}
	if !d.HasCell && !d.HasBase && !d.HasClient {
		c.problem(d.where, "", "the type has no side", "let it have a cell, a base or a client")
	}
	if !(d.AppealRadius >= 0) || math.IsInf(float64(d.AppealRadius), 0) {
		c.problem(d.where, "AppealRadius", fmt.Sprintf("%v is not a distance", d.AppealRadius), "state metres, 0 or more")
	}
	c.checkLevels()
	c.checkVolatile()
	c.checkProperties()
	c.checkMethods("CellMethods", d.CellMethods, d.HasCell, "cell", CellSide)
	c.checkMethods("BaseMethods", d.BaseMethods, d.HasBase, "base", BaseSide)
	c.checkMethods("ClientMethods", d.ClientMethods, true, "client", sides)
	if len(d.ClientMethods) > 0 && !d.HasClient {
		c.notice(d.where, d.Name, "it has client methods but no client side", "no client ever hears them")
	}
}

// problem reports a fault; one in a definition without a file is told by the type's name.
func (c *checker) problem(at position, element, problem, remedy string) {
	if at.file == "" {
		if element != "" {
			element = "/" + element
		}
		element = c.d.Name + element
	}
	c.fault(at, element, problem, remedy)
}

func (c *checker) checkLevels() {
	d := c.d
	if len(d.Levels) > MaxLevels {
		c.problem(d.where, "LoDLevels", fmt.Sprintf("more than %d detail levels", MaxLevels), "merge some")
	}
	labels := make(map[string]bool)
	for i, l := range d.Levels {
		at := "LoDLevels/" + l.Label
		if err := checkName(l.Label); err != nil {
			c.problem(d.where, "LoDLevels", "label of a detail level: "+err.Error(), nameRemedy)
		}
		if labels[l.Label] {
			c.problem(d.where, at, "detail level is declared twice", "rename one of the two")
		}
		labels[l.Label] = true
		if !(l.Radius > 0) || !finite(l.Radius) || !(l.Hysteresis >= 0) || !finite(l.Hysteresis) {
			c.problem(d.where, at, fmt.Sprintf("radius %v with hysteresis %v is not a ring", l.Radius, l.Hysteresis),
				"state a radius above 0 and a hysteresis of 0 or more, in metres")
		} else if i > 0 && l.Radius <= d.Levels[i-1].Radius {
			c.problem(d.where, at, fmt.Sprintf("radius %v is not beyond that of %s", l.Radius, d.Levels[i-1].Label),
				"list the levels from near to far")
		}
	}
}

func (c *checker) checkVolatile() {
	v := c.d.Volatile
	for _, f := range []float32{v.Position, v.Yaw, v.Pitch, v.Roll} {
		if !(f >= 0) {
			c.problem(c.d.where, "Volatile", fmt.Sprintf("%v is not a distance", f), "state metres, or leave the element empty for always")
			return
		}
	}
	if v.Yaw < v.Pitch || v.Pitch < v.Roll {
		c.problem(c.d.where, "Volatile", "roll reaches further than pitch, or pitch further than yaw",
			"a direction is sent as yaw, yaw and pitch, or all three: order the distances so")
	}
}

func (c *checker) checkProperties() {
	d := c.d
	if len(d.Properties) > MaxProperties {
		c.problem(d.where, "Properties", fmt.Sprintf("more than %d properties", MaxProperties), "gather some in a FIXED_DICT")
		return
	}
	seen := make(map[string]bool)
	for _, p := range d.Properties {
		at := "Properties/" + p.Name
		if err := checkName(p.Name); err != nil {
			c.problem(p.where, "Properties", err.Error(), nameRemedy)
		}
		if seen[p.Name] {
			c.problem(p.where, at, "property is declared twice", "remove one of the two")
		}
		seen[p.Name] = true
		c.checkProperty(p, at)
	}
}

func (c *checker) checkProperty(p *Property, at string) {
	d := c.d
	if !p.Flags.Valid() {
		c.problem(p.where, at+"/Flags", fmt.Sprintf("%#x is no combination of flags", uint16(p.Flags)), "use one of "+flagList())
	}
	if p.Type == nil {
		c.problem(p.where, at, "property has no type", "state one")
		return
	}
	if p.Default.IsNone() {
		p.Default = p.Type.def
	}
	v, err := p.Type.Fit(p.Default)
	if err != nil {
		c.problem(p.where, at+"/Default", err.Error(), "state a value of type "+p.Type.kind.String())
	}
	p.Default = v
	switch {
	case p.Flags&EditorOnly != 0:
	case p.Flags&OnBase != 0 && !d.HasBase:
		c.problem(p.where, at, fmt.Sprintf("flag %v, but %s has no base", p.Flags, d.Name), "change the flag, or let the type have a base")
	case p.Flags&OnBase == 0 && !d.HasCell:
		c.problem(p.where, at, fmt.Sprintf("flag %v, but %s has no cell", p.Flags, d.Name), "change the flag, or let the type have a cell")
	}
	if p.ClientVisible() && p.Type.hasMailbox() {
		c.problem(p.where, at, fmt.Sprintf("flag %v shows a MAILBOX to clients", p.Flags), "use ENTITY_ID, or a flag without clients")
	}
	p.Level = len(d.Levels)
	for i, l := range d.Levels {
		if l.Label == p.Detail {
			p.Level = i
		}
	}
	if p.Detail != "" && p.Level == len(d.Levels) {
		c.problem(p.where, at+"/DetailLevel", fmt.Sprintf("%s has no detail level %q", d.Name, p.Detail), "declare it in LoDLevels, or use a label from there")
	}
	if p.Identifier {
		p.Indexed, p.Unique = true, true
	}
	if (p.Indexed || p.Unique) && !p.Persistent {
		c.problem(p.where, at, "property is looked up in the store but not kept there", "state Persistent true")
	}
	if p.DatabaseLength < 0 {
		c.problem(p.where, at+"/DatabaseLength", fmt.Sprintf("%d is not a length", p.DatabaseLength), "state bytes, 0 for the store's default")
	}
}

func (c *checker) checkMethods(section string, methods []*Method, hasSide bool, part string, side Side) {
	d := c.d
	if len(methods) > MaxMethods {
		c.problem(d.where, section, fmt.Sprintf("more than %d methods", MaxMethods), "merge some")
		return
	}
	taken := make(map[string]bool)
	for _, p := range d.Properties {
		taken[p.Name] = side.holds(p.Flags)
	}
	seen := make(map[string]bool)
	for _, m := range methods {
		at := section + "/" + m.Name
		if err := checkName(m.Name); err != nil {
			c.problem(m.where, section, err.Error(), nameRemedy)
		}
		if seen[m.Name] {
			c.problem(m.where, at, "method is declared twice", "remove one of the two")
		}
		seen[m.Name] = true
		if taken[m.Name] {
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
	}
	seen := make(map[string]bool)
	for i, a := range args {
		at := at + "/" + argName(i, a)
		if a.Name != "" {
			if err := checkName(a.Name); err != nil {
				c.problem(m.where, at, err.Error(), nameRemedy)
			}
			if seen[a.Name] {
				c.problem(m.where, at, "argument is declared twice", "rename one of the two")
			}
			seen[a.Name] = true
		}
		if a.Type == nil {
			c.problem(m.where, at, "argument has no type", "state one")
		} else if fromClient && a.Type.hasMailbox() {
			c.problem(m.where, at, "a MAILBOX cannot be passed from or to a client", "use ENTITY_ID")
		}
	}
}
