package client

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Classes binds entity types to the Go types that the game wrote for its client.
// Register everything, then give it to the clients; many may share it, since it is
// only read then.
type Classes struct {
	schema *property.Schema
	types  [2][]*class // by sideIndex, then by definition id
	faults []error
}

type class struct {
	typ     reflect.Type // *T
	methods *script.Methods
	setters *property.Setters
}

// NewClasses returns an empty registry for the definitions of a schema.
func NewClasses(schema *property.Schema) *Classes {
	return &Classes{schema: schema, types: [2][]*class{make([]*class, len(schema.Types)), make([]*class, len(schema.Types))}}
}

func sideIndex(side property.Side) int {
	if side == property.OwnClientSide {
		return 0
	}
	return 1
}

// Register binds entity type name to the Go type T, a struct that embeds
// *client.Replica. side says for which replicas: property.OwnClientSide for the
// player's own, property.OtherClientSide for those in its area of interest; they see
// different properties. The handle fields of T are bound to the properties of their
// names and are read-only. Its methods answer the client methods of the definition, with
// arguments of the matching Go types, before Events.Called. Its setters, OnSet and the
// property's name, hear of changes before Events.PropertyChanged, and not of the values
// with which an entity is made; see property.Setters. Any other field must be tagged
// `cellscape:"local"`: it lives as long as the replica. A panic is the program's own.
// Faults are kept for Err.
func Register[T any](c *Classes, name string, side property.Side) {
	if err := c.register(name, side, reflect.TypeFor[*T]()); err != nil {
		c.faults = append(c.faults, fmt.Errorf("client: class for %s, %v: %w", name, side, err))
	}
}

func (c *Classes) register(name string, side property.Side, t reflect.Type) error {
	if side != property.OwnClientSide && side != property.OtherClientSide {
		return fmt.Errorf("a client holds no values of this side; use property.OwnClientSide or property.OtherClientSide")
	}
	d := c.schema.Type(name)
	switch {
	case d == nil:
		return fmt.Errorf("the definitions have no entity type %q; add it to entities.xml", name)
	case !d.HasClient:
		return fmt.Errorf("the definitions give it no client part; set hasClient in entities.xml, or remove the class")
	case c.types[sideIndex(side)][d.ID] != nil:
		return fmt.Errorf("registered twice")
	}
	st := t.Elem()
	if st.Kind() != reflect.Struct {
		return fmt.Errorf("%s is no struct", st)
	}
	if f, ok := st.FieldByName("Replica"); !ok || !f.Anonymous || f.Type != reflect.TypeFor[*Replica]() {
		return fmt.Errorf("%s does not embed *client.Replica", st)
	}
	methods, err1 := script.BindMethods(t, d.ClientMethods, false)
	setters, err2 := property.FindSetters(t, d, side)
	hooks := script.Hooks{
		Part: reflect.TypeFor[*Replica](), Methods: d.ClientMethods,
		Named: func(m reflect.Method) (named, apart bool) { return property.IsSetterName(m.Name), true },
		Ways:  "a setter: func (T) OnSetHealth(c *property.Change) for a property health. A replica has nothing else",
	}
	err := errors.Join(err1, hooks.Check(t), property.CheckFields(st, d, side, reflect.TypeFor[*Replica]()), err2)
	if err == nil {
		c.types[sideIndex(side)][d.ID] = &class{t, methods, setters}
	}
	return err
}

// Err reports every fault of all registrations, nil if there is none. Types without a
// class are allowed: the Events tell of them.
func (c *Classes) Err() error { return errors.Join(c.faults...) }

// bind gives a new replica its script, if the game wrote one.
func (c *Classes) bind(r *Replica) {
	if c == nil {
		return
	}
	x := c.types[sideIndex(r.Props.Side())][r.Def.ID]
	if x == nil {
		return
	}
	v := reflect.New(x.typ.Elem())
	v.Elem().FieldByName("Replica").Set(reflect.ValueOf(r))
	property.BindFields(v.Interface(), r.Props, reflect.TypeFor[*Replica]())
	r.class, r.script = x, v
}

// Script is the Go value that the game wrote for the entity, a *T of Register; nil if
// it wrote none.
func (r *Replica) Script() any {
	if r.class == nil {
		return nil
	}
	return r.script.Interface()
}

// hear tells the script of a change that is in place.
func (r *Replica) hear(c *property.Change) {
	if r.class != nil {
		r.class.setters.Call(r.script, c)
	}
}

// call calls a client method of the script, if there is one.
func (r *Replica) call(method int, args []byte) error {
	if r.class == nil {
		return nil
	}
	return r.class.methods.Call(r.script, method, 0, args)
}
