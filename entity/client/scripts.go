package client

import (
	"reflect"

	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts are the Go types that the game wrote for what a client sees of entity types. Register
// everything, then give it to the clients; many may share it, since it is only read then.
type Scripts struct {
	registry       script.Registry
	player, others script.Table
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	s := &Scripts{registry: script.NewRegistry(schema)}
	table := func(name string, side property.Side) script.Table {
		return script.NewTable(&s.registry, script.Kind{
			Name: name, Part: reflect.TypeFor[*Replica](), Side: side,
			Has: func(d *property.Definition) bool { return d.HasClient }, Attribute: "hasClient",
			Methods: func(d *property.Definition) []*property.Method { return d.ClientMethods },
			Setters: true,
		})
	}
	s.player = table("client: player script", property.OwnClientSide)
	s.others = table("client: script", property.OtherClientSide)
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports every fault of all registrations, nil if there is none. Types without a script are
// allowed: the Events tell of them.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the entities of type name that a player sees, besides its own, a script: a
// pointer to T, which is made by constructor, or else by new. T embeds *client.Replica. Its handle fields
// (property.Field) are bound to the properties of their names and are read-only; any other field
// must be tagged `cellscape:"local"`: it lives as long as the replica. Every client method of the
// definition is a Go method of *T, called before Events.Called. Its setters, OnSet and the
// property's name, hear of changes before Events.PropertyChanged, and not of the values with which
// an entity is made; see property.Setters. A method that begins with On is one of those; another is
// refused, since nothing would call it. A panic is the program's own. Faults are kept for Err.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.others, name, constructor)
}

// RegisterPlayer gives the player's own entity, if it is of type name, a script of its own, as
// Register does for the others. Of its own entity a player sees other properties.
func RegisterPlayer[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.player, name, constructor)
}

// bind gives a new replica its script, if the game wrote one.
func (s *Scripts) bind(r *Replica) {
	if s == nil {
		return
	}
	kind := s.others.Of(r.Def)
	if r.Own() {
		kind = s.player.Of(r.Def)
	}
	if kind != nil {
		r.kind, r.script = kind, kind.New(r, r.Props)
	}
}

// Script is the Go value that the game wrote for the entity, a *T of Register; nil if it wrote none.
func (r *Replica) Script() any {
	if r.kind == nil {
		return nil
	}
	return r.script.Interface()
}

// hear tells the script of a change that is in place.
func (r *Replica) hear(c *property.Change) {
	if r.kind != nil {
		r.kind.Hear(r.script, c)
	}
}

// call calls a client method of the script, if there is one.
func (r *Replica) call(method int, args []byte) error {
	if r.kind == nil {
		return nil
	}
	return r.kind.Call(r.script, method, 0, args)
}
