package client

import (
	"reflect"

	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts holds the game's Go types for what a client sees of entity types. Register everything
// before you give it to clients. Many may share it, since they only read it.
type Scripts struct {
	registry       script.Registry
	player, others script.Table
}

// NewScripts returns an empty registry for the definitions of a schema.
func NewScripts(schema *property.Schema) *Scripts {
	s := &Scripts{registry: script.NewRegistry(schema)}
	table := func(name string, side property.Side, hooks ...reflect.Type) script.Table {
		return script.NewTable(&s.registry, script.Kind{
			Name: name, Part: reflect.TypeFor[*Replica](), Side: side,
			Has: func(d *property.Definition) bool { return d.HasClient }, Attribute: "hasClient",
			Methods: func(d *property.Definition) []*property.Method { return d.ClientMethods },
			Hooks:   hooks,
			Setters: true,
		})
	}
	s.player = table("client: player script", property.OwnClientSide, reflect.TypeFor[ForcedWatcher](), reflect.TypeFor[RideWatcher]())
	s.others = table("client: script", property.OtherClientSide,
		reflect.TypeFor[EnterWatcher](), reflect.TypeFor[LeaveWatcher](), reflect.TypeFor[MoveWatcher](), reflect.TypeFor[RideWatcher]())
	return s
}

// Schema returns the definitions.
func (s *Scripts) Schema() *property.Schema { return s.registry.Schema() }

// Err reports all faults of all registrations; nil if there are none. A type may lack a script; the
// Events tell of it all the same.
func (s *Scripts) Err() error { return s.registry.Err() }

// Register gives the entities of the type called name that a player sees, except its own, a script,
// a *T. The constructor makes it, or new without one. T must embed *client.Replica. Its handle
// fields (property.Field) are bound to the properties of their names and are read-only; any other
// field must have the tag `cellscape:"local"`, and lives as long as the replica. Every client
// method of the definition must be a Go method of *T, which is called before Events.Called.
// Setters, methods called OnSet and the property's name, are called before Events.PropertyChanged,
// but not for the values with which an entity is made; see property.Setters. It may also be an
// EnterWatcher, a LeaveWatcher, a MoveWatcher and a RideWatcher. Any other method whose name begins
// with On is refused, since nothing would call it. Panics are not caught. Err reports the faults.
func Register[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.others, name, constructor)
}

// RegisterPlayer is Register for the player's own entity, of which the player sees other
// properties. Its script may also be a ForcedWatcher and a RideWatcher, but none of the other
// watchers.
func RegisterPlayer[T any](s *Scripts, name string, constructor ...func() *T) {
	script.Register(&s.registry, &s.player, name, constructor)
}

// bind gives a new replica its script, if there is one.
func (s *Scripts) bind(r *Replica) {
	if s == nil {
		return
	}
	kind := s.others.Of(r.Def)
	if r.Own() {
		kind = s.player.Of(r.Def)
	}
	if kind != nil {
		r.extend().bound = &bound{kind, kind.New(r, r.Props)}
	}
}

// Script returns the entity's script, a *T of Register; nil if there is none.
func (r *Replica) Script() any {
	s := r.script()
	if s == nil {
		return nil
	}
	return s.value.Interface()
}

// hear tells the script of a change that was made.
func (r *Replica) hear(c *property.Change) {
	if s := r.script(); s != nil {
		s.kind.Hear(s.value, c)
	}
}

// call calls a client method of the script, if there is one.
func (r *Replica) call(method int, args []byte) error {
	s := r.script()
	if s == nil {
		return nil
	}
	results, err := s.kind.Call(&r.client.scratch.parameters, s.value, method, 0, args)
	if err == nil {
		err = results.Err() // nobody else hears of it
	}
	return err
}
