package baseapp

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// Scripts are the Go types that game code gives to the base parts of entity types.
// Fill it with Register before New.
type Scripts struct {
	list []registration
}

type registration struct {
	typeName string
	script   reflect.Type // the pointer type *T
	make     func() any
}

// Register gives an entity type its script: a pointer to T. T embeds *entity.Base;
// its other fields are properties of the base side (property.Field), or tagged
// `cellscape:"local"`. Every base method of the definition is a Go method of *T. A method
// that begins with On is one of those, a callback of Creator and its kin, a timer's
// func (T) OnX() or a space's func (T) OnX(entity.SpaceReply); another is refused, since
// nothing would call it, and so is one that is a callback's name but for a letter.
// make returns a new script; nil means new(T). What does not fit is reported by New,
// all at once.
func Register[T any](s *Scripts, typeName string, make func() *T) {
	if make == nil {
		make = func() *T { return new(T) }
	}
	s.list = append(s.list, registration{typeName, reflect.TypeFor[*T](), func() any { return make() }})
}

func (s *Scripts) has(typeName string) bool {
	for i := range s.list {
		if s.list[i].typeName == typeName {
			return true
		}
	}
	return false
}

// Check reports everything that does not fit the definitions, as New would.
func (s *Scripts) Check(schema *property.Schema) error {
	_, err := s.bind(schema)
	return err
}

// binding is a registration that fits its definition.
type binding struct {
	registration
	def     *property.Definition
	methods *script.Methods
	timers  map[string]int // Go method index of every func() that a timer may call
	// spaceReplies is the same of every func(entity.SpaceReply).
	spaceReplies map[string]int
}

// basePointer is the type that every script embeds.
func basePointer() reflect.Type { return reflect.TypeFor[*entity.Base]() }

// bind checks every registration against the schema. The bindings are by type id;
// types without script are nil.
func (s *Scripts) bind(schema *property.Schema) ([]*binding, error) {
	out := make([]*binding, len(schema.Types))
	var faults []error
	for i := range s.list {
		r := &s.list[i]
		d := schema.Type(r.typeName)
		if d == nil {
			faults = append(faults, fmt.Errorf("script %v: there is no entity type %q; register it for a type of the schema", r.script, r.typeName))
			continue
		}
		if out[d.ID] != nil {
			faults = append(faults, fmt.Errorf("script %v: %s has the script %v already; register one of the two", r.script, d.Name, out[d.ID].script))
			continue
		}
		b, err := r.bind(d)
		if err != nil {
			faults = append(faults, err)
		}
		out[d.ID] = b
	}
	return out, errors.Join(faults...)
}

func (r *registration) bind(d *property.Definition) (*binding, error) {
	b := &binding{registration: *r, def: d, timers: make(map[string]int), spaceReplies: make(map[string]int)}
	if r.script.Elem().Kind() != reflect.Struct {
		return b, fmt.Errorf("script %v of %s: %v is not a struct; register a struct type", r.script, d.Name, r.script.Elem())
	}
	var faults []error
	if !d.HasBase {
		faults = append(faults, fmt.Errorf("script %v: %s has no base part; let its definition have one", r.script, d.Name))
	}
	if f, ok := r.script.Elem().FieldByName("Base"); !ok || !f.Anonymous || f.Type != basePointer() || len(f.Index) != 1 {
		faults = append(faults, fmt.Errorf("script %v of %s: it does not embed *entity.Base; add that field", r.script, d.Name))
	}
	for _, m := range d.BaseMethods {
		if _, taken := basePointer().MethodByName(property.GoName(m.Name)); taken {
			faults = append(faults, fmt.Errorf("script %v: base method %q of %s would be the method %s of entity.Base; rename it",
				r.script, m.Name, d.Name, property.GoName(m.Name)))
		}
	}
	if err := property.CheckFields(r.script, d, property.BaseSide, basePointer()); err != nil {
		faults = append(faults, err)
	}
	methods, err := script.BindMethods(r.script, d.BaseMethods, false)
	if err != nil {
		faults = append(faults, err)
	}
	b.methods = methods
	hooks := baseHooks(d)
	faults = append(faults, hooks.Check(r.script))
	b.findCallbacks()
	return b, errors.Join(faults...)
}

// findCallbacks lists the methods that are called by name: by a timer the script's own
// func()s, with a space its func(entity.SpaceReply)s.
func (b *binding) findCallbacks() {
	for i := range b.script.NumMethod() {
		m := b.script.Method(i)
		_, ofBase := basePointer().MethodByName(m.Name)
		switch {
		case ofBase:
		case isTimer(m):
			b.timers[m.Name] = i
		case isSpaceReply(m):
			b.spaceReplies[m.Name] = i
		}
	}
}

func isTimer(m reflect.Method) bool { return m.Type.NumOut() == 0 && m.Type.NumIn() == 1 }

func isSpaceReply(m reflect.Method) bool {
	return m.Type.NumOut() == 0 && m.Type.NumIn() == 2 && m.Type.In(1) == reflect.TypeFor[entity.SpaceReply]()
}

// baseHooks is what is called on the script of a base. A timer's method looks like most callbacks, so that only its name
// tells that it is none.
func baseHooks(d *property.Definition) script.Hooks {
	return script.Hooks{
		Own: []reflect.Type{
			reflect.TypeFor[Creator](), reflect.TypeFor[ClientEnabler](), reflect.TypeFor[ClientDeathHandler](), reflect.TypeFor[Keeper](),
			reflect.TypeFor[CellGetter](), reflect.TypeFor[CellLoser](), reflect.TypeFor[Destroyer](),
		},
		Foreign: []string{"OnRestored", "OnLeavingCell", "OnEnteredCell", "OnClient", "OnCallRefused"}, // of cell scripts
		Part:    basePointer(), Methods: d.BaseMethods,
		Named: func(m reflect.Method) (named, apart bool) { return isTimer(m) || isSpaceReply(m), isSpaceReply(m) },
		Ways:  "what a timer calls, func (T) OnX(), or a space, func (T) OnX(entity.SpaceReply)",
	}
}

// newScript makes a script, connects its fields to props and its Base to base.
func (b *binding) newScript(base *entity.Base, props *property.Values) any {
	s := b.make()
	v := reflect.ValueOf(s)
	if v.IsNil() {
		panic(fmt.Sprintf("baseapp: the make function of %v returned nil", b.script))
	}
	v.Elem().FieldByName("Base").Set(reflect.ValueOf(base))
	property.BindFields(s, props, basePointer())
	return s
}
