package script

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// Kind is a kind of scripts: those of cell parts, of ghosts, of bases, of what a client sees.
type Kind struct {
	// Name begins the faults: "space: script".
	Name string
	// Part is what a script embeds, as *space.Real; its methods are not the script's.
	Part reflect.Type
	// Side is which properties its fields are bound to.
	Side property.Side
	// Has reports whether a type has the part that the script is for; Attribute says so in
	// entities.xml: "hasCell".
	Has       func(d *property.Definition) bool
	Attribute string
	// Methods are those of a definition that the script answers; nil for none. With Caller the
	// exposed ones are told who calls.
	Methods func(d *property.Definition) []*property.Method
	Caller  bool
	// Hooks are interfaces of one method each: what the library calls on such a script. Foreign are
	// the names of those that scripts of other parts have.
	Hooks   []reflect.Type
	Foreign []string
	// Callbacks are what the methods take that are called by a name which the script gave along.
	Callbacks []reflect.Type
	// Setters says that the script may hear of changes; see property.Setters.
	Setters bool
}

// Registry is the definitions that scripts are registered for, and the faults of all registrations.
type Registry struct {
	schema *property.Schema
	faults []error
}

// NewRegistry returns an empty registry for the definitions of a schema.
func NewRegistry(schema *property.Schema) Registry { return Registry{schema: schema} }

// Schema returns the definitions.
func (r *Registry) Schema() *property.Schema { return r.schema }

// Err reports every fault of all registrations at once, nil if there is none.
func (r *Registry) Err() error { return errors.Join(r.faults...) }

// Fault keeps what is wrong for Err.
func (r *Registry) Fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// Table is the scripts of one kind, by entity type. It is only read once all are registered.
type Table struct {
	kind  Kind
	types []*Type // by definition id
}

// NewTable returns a table without scripts for the definitions of a registry.
func NewTable(r *Registry, kind Kind) Table {
	return Table{kind, make([]*Type, len(r.schema.Types)+len(r.schema.Services))}
}

// Of is the script of a type, nil for none.
func (t *Table) Of(d *property.Definition) *Type { return t.types[d.ID] }

// Register gives entity type name a script, a *T, that is made by constructor, or else by new. What
// does not fit is kept in r, all at once.
func Register[T any](r *Registry, t *Table, name string, constructor []func() *T) {
	script := reflect.TypeFor[*T]()
	produce := func() reflect.Value { return reflect.ValueOf(new(T)) }
	if len(constructor) > 0 {
		produce = func() reflect.Value { return reflect.ValueOf(constructor[0]()) }
	}
	x, err := t.kind.bind(r.schema, name, script, produce)
	switch {
	case err != nil:
	case len(constructor) > 1 || len(constructor) == 1 && constructor[0] == nil:
		err = errors.New("give one constructor, or none for new")
	case t.types[x.def.ID] != nil:
		err = fmt.Errorf("it has the script %v already; register one of the two", t.types[x.def.ID].script)
	default:
		quicken[*T](x.methods)
		t.types[x.def.ID] = x
	}
	if err != nil {
		r.Fault("%s for %s: %w", t.kind.Name, name, err)
	}
}

// bind checks a script against its definition; all faults are reported at once.
func (k *Kind) bind(schema *property.Schema, name string, script reflect.Type, produce func() reflect.Value) (*Type, error) {
	d := cmp.Or(schema.Type(name), schema.Service(name))
	switch {
	case d == nil:
		return nil, fmt.Errorf("the definitions have no entity type %q; add it to entities.xml", name)
	case d.Service && !k.Has(d):
		return nil, fmt.Errorf("it is a service, which has a script of its own on BaseApps: baseapp.Register")
	case !k.Has(d):
		return nil, fmt.Errorf("the definitions give it no %s part; set %s in entities.xml, or remove the script", strings.ToLower(strings.TrimPrefix(k.Attribute, "has")), k.Attribute)
	case script.Elem().Kind() != reflect.Struct:
		return nil, fmt.Errorf("%v is not a struct; register one", script.Elem())
	}
	part, err := k.embedded(script.Elem())
	if err != nil {
		return nil, err
	}
	x := &Type{def: d, script: script, produce: produce, part: part, callbacks: findCallbacks(script, k)}
	var described []*property.Method
	if k.Methods != nil {
		described = k.Methods(d)
	}
	var errMethods, errSetters error
	x.methods, errMethods = BindMethods(script, described, k.Caller)
	if k.Setters {
		x.setters, errSetters = property.FindSetters(script, d, k.Side)
	}
	hooks := hookCheck{Kind: k, described: described}
	err = errors.Join(k.shadows(described), errMethods, hooks.check(script), property.CheckFields(script, d, k.Side, k.Part), errSetters)
	if err != nil {
		return nil, err
	}
	x.fields = property.NewBinding(script, d, k.Part)
	return x, nil
}

// embedded is where a script embeds the part: itself, or in a struct that it embeds and that
// scripts of several types have in common.
func (k *Kind) embedded(script reflect.Type) ([]int, error) {
	field, ok := script.FieldByName(k.Part.Elem().Name())
	if !ok || !field.Anonymous || field.Type != k.Part {
		return nil, fmt.Errorf("%v does not embed %v; add that field", script, k.Part)
	}
	for n := 1; n < len(field.Index); n++ {
		if in := script.FieldByIndex(field.Index[:n]); in.Type.Kind() == reflect.Pointer {
			return nil, fmt.Errorf("%v embeds %v in a %v, which is nil at first; embed the struct itself", script, k.Part, in.Type)
		}
	}
	return field.Index, nil
}

// shadows refuses methods of a definition that would hide what the part has of the name.
func (k *Kind) shadows(described []*property.Method) error {
	var faults []error
	for _, m := range described {
		if _, taken := k.Part.MethodByName(property.GoName(m.Name)); taken {
			faults = append(faults, fmt.Errorf("method %q would hide the method %s of %v; rename it in the definition", m.Name, property.GoName(m.Name), k.Part))
		}
	}
	return errors.Join(faults...)
}

// ofPart reports whether the script has a method from what it embeds.
func (k *Kind) ofPart(name string) bool {
	_, ok := k.Part.MethodByName(name)
	return ok
}

// isForeign reports whether scripts of other parts have a callback of the name.
func (k *Kind) isForeign(name string) bool { return slices.Contains(k.Foreign, name) }
