package property

import (
	"fmt"
	"slices"
	"strings"
)

// MaxComponents is the largest number of components of a type; each is a struct of its own in a
// script.
const MaxComponents = 64

// checkComponents checks the names under which a type has components: in a script's struct each is
// a field, beside those of properties.
func (c *checker) checkComponents() {
	d := c.d
	if len(d.Components) > MaxComponents {
		c.problem(d.where, "Components", fmt.Sprintf("more than %d components", MaxComponents), "gather some in one")
		return
	}
	for i, x := range d.Components {
		at := "Components/" + x.Name
		if err := checkName(x.Name); err != nil {
			c.problem(d.where, "Components", err.Error(), nameRemedy)
		}
		if err := checkName(x.Type); err != nil {
			c.problem(d.where, at+"/Type", err.Error(), nameRemedy)
		}
		if slices.ContainsFunc(d.Components[:i], func(y Component) bool { return x.Name == y.Name }) {
			c.problem(d.where, at, "component is declared twice", "remove one of the two")
		}
		if slices.ContainsFunc(d.Properties, func(p *Property) bool { return p.Name == x.Name }) {
			c.problem(d.where, at, "a property has that name too", "rename one of the two: a struct cannot have both")
		}
	}
}

// checkMember checks the name of a property or method: of a component's it is the component's name,
// a dot and its own.
func (c *checker) checkMember(name, component string, where position, section string) {
	own := name
	if component != "" {
		rest, ok := strings.CutPrefix(name, component+".")
		if !ok {
			c.problem(where, section+"/"+name, fmt.Sprintf("it is of component %q, but its name does not begin with that", shorten(component)), "call it component.name")
			return
		}
		if !slices.ContainsFunc(c.d.Components, func(x Component) bool { return x.Name == component }) {
			c.problem(where, section+"/"+name, fmt.Sprintf("%s has no component %q", c.d.Name, shorten(component)), "list it in Components")
		}
		own = rest
	}
	if err := checkName(own); err != nil {
		c.problem(where, section, err.Error(), nameRemedy)
	}
}

func (c *checker) checkTempProperties() {
	d := c.d
	if len(d.TempProperties) > MaxProperties {
		c.problem(d.where, "TempProperties", fmt.Sprintf("more than %d names", MaxProperties), "remove those that are not used")
		return
	}
	if len(d.TempProperties) == 0 {
		return
	}
	taken := make(map[string]string, len(d.Properties))
	for _, p := range d.Properties {
		taken[p.Name] = "is a property too"
	}
	for _, name := range d.TempProperties {
		if err := checkName(name); err != nil {
			c.problem(d.where, "TempProperties", err.Error(), nameRemedy)
		}
		if why := taken[name]; why != "" {
			c.problem(d.where, "TempProperties/"+name, "the name "+why, "remove one of the two")
		}
		taken[name] = "is given twice"
	}
}
