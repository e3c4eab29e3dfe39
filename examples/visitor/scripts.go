package main

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/property"
)

// scripts gives each entity that the visitor sees a Go value. Its handles read the properties,
// and the server calls its methods: all that the definition has, also those that only other
// players need.
func (v *visitor) scripts(schema *property.Schema) *client.Scripts {
	s := client.NewScripts(schema)
	client.RegisterPlayer(s, "Avatar", func() *self { return &self{visitor: v} })
	client.Register(s, "Avatar", func() *other { return &other{visitor: v} })
	client.Register(s, "Guard", func() *guard { return &guard{visitor: v} })
	return s
}

// self is the visitor's own avatar.
type self struct {
	*client.Replica
	visitor *visitor `cellscape:"local"`
}

func (s *self) Heard(string)       {} // its own words
func (s *self) Richer(uint32)      {} // they were praised
func (s *self) Waved(by entity.ID) { s.visitor.hear(s.Client().Entity(by), "waves to the visitor") }

// other is another player's avatar.
type other struct {
	*client.Replica
	Name, Mood property.String
	visitor    *visitor `cellscape:"local"`
}

// OnLeft is called when it goes out of view, whatever the reason.
func (o *other) OnLeft() { delete(o.visitor.greeted, o.ID) }

func (o *other) Heard(text string) { o.visitor.hear(o.Replica, text) }
func (o *other) Waved(entity.ID)   {}
func (o *other) Richer(uint32)     {}
func (o *other) String() string    { return o.Name.Get() }

// OnSetMood is called when the property has changed.
func (o *other) OnSetMood(*property.Change) { o.visitor.hear(o.Replica, "is "+o.Mood.Get()) }

// guard is one of the arena's guards.
type guard struct {
	*client.Replica
	visitor *visitor `cellscape:"local"`
}

func (g *guard) OnLeft()           { delete(g.visitor.greeted, g.ID) }
func (g *guard) Shout(text string) { g.visitor.hear(g.Replica, text) }
func (g *guard) String() string    { return "a guard" }
