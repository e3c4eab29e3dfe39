package property

import (
	"fmt"
	"math"
)

// checker checks one Definition, whether it comes from a tree or from Go. On the way it fits
// defaults and resolves the labels of detail levels.
type checker struct {
	*report
	d     *Definition
	flags map[string]Flags // of the properties by name, for the methods' check
}

func checkDefinition(d *Definition, r *report) {
	c := checker{report: r, d: d}
	if err := checkName(d.Name); err != nil {
		what := "entity type: "
		if d.Service {
			what = "service: "
		}
		c.fault(d.where, "", what+err.Error(), nameRemedy)
	}
	if d.Service {
		c.checkService()
		return
	}
	if !d.HasCell && !d.HasBase && !d.HasClient {
		c.problem(d.where, "", "the type has no side", "let it have a cell, a base or a client")
	}
	if !(d.AppealRadius >= 0) || math.IsInf(float64(d.AppealRadius), 0) {
		c.problem(d.where, "AppealRadius", fmt.Sprintf("%v is not a distance", d.AppealRadius), "state metres, 0 or more")
	}
	c.checkLevels()
	c.checkVolatile()
	c.checkScheme()
	c.checkComponents()
	c.checkTempProperties()
	c.checkCompression()
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

// checkService checks a definition that has methods and nothing else.
func (c *checker) checkService() {
	d := c.d
	if len(d.Properties)+len(d.CellMethods)+len(d.ClientMethods)+len(d.Components) > 0 || d.HasCell || d.HasClient || d.ClientName != "" {
		c.problem(d.where, "", "a service has methods of its base side and nothing else", "make it an entity type, or move the rest to one")
	}
	c.checkMethods("Methods", d.BaseMethods, true, "base", BaseSide)
	for _, m := range d.BaseMethods {
		if m.Exposed != NotExposed {
			c.problem(m.where, "Methods/"+m.Name, "a method of a service cannot be exposed", "let the client call an exposed method of its own entity instead")
		}
	}
}

func (c *checker) checkProperties() {
	d := c.d
	if len(d.Properties) > MaxProperties {
		c.problem(d.where, "Properties", fmt.Sprintf("more than %d properties", MaxProperties), "gather some in a FIXED_DICT")
		return
	}
	c.flags = make(map[string]Flags, len(d.Properties))
	identifier := ""
	for _, p := range d.Properties {
		at := "Properties/" + p.Name
		c.checkMember(p.Name, p.Component, p.where, "Properties")
		if _, seen := c.flags[p.Name]; seen {
			c.problem(p.where, at, "property is declared twice", "remove one of the two")
		}
		c.flags[p.Name] = p.Flags
		c.checkProperty(p, at)
		if !p.Identifier || !d.Persistent {
			continue
		}
		if identifier != "" { // a store would not know by which of them to find an entity
			c.problem(p.where, at+"/Identifier", d.Name+" has an Identifier already, "+identifier, "make one of the two Unique instead")
		}
		identifier = p.Name
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
	if limit := d.maxSize(p); err == nil && p.Type.sizeOf(&v) > limit {
		c.problem(p.where, at+"/Default", fmt.Sprintf("%d bytes, more than the %d that can travel", p.Type.sizeOf(&v), limit),
			"shorten it, or split the property")
	}
	if p.where.file == "" && p.Flags&OtherClient != 0 {
		p.ExposedForReplay = true
	}
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
	if p.WarnBytes < 0 {
		c.problem(p.where, at, fmt.Sprintf("WarnBytes is %d", p.WarnBytes), "state bytes, 0 for no warning")
	}
	if p.DatabaseLength < 0 {
		c.problem(p.where, at+"/DatabaseLength", fmt.Sprintf("%d is not a length", p.DatabaseLength), "state bytes, or characters of a UNICODE_STRING, 0 for the store's default")
	}
}
