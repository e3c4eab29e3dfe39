package script

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Methods calls the methods of a definition on a script, the Go value that the
// game wrote for a part of an entity. Built once for each script type by
// BindMethods, it is read-only afterwards.
type Methods struct {
	desc  []*property.Method
	funcs []reflect.Value  // the Go methods, which take the script first
	ins   [][]reflect.Type // of the arguments
	asks  []bool           // it takes the caller before its arguments
	quick []quick          // nil where there is none
	fails []bool           // its last result is an error
}

// BindMethods checks that the script type has a Go method for every method
// described, and returns the table. Method "wear" of a definition is the Go
// method Wear; each argument is a Go parameter of the matching type: property.Value
// takes anything, a []T an ARRAY or TUPLE, a map[K]V a MAP, an any an ANY. So do its results
// for the ReturnValues; an error may come last. An exposed
// cell method has the calling client's entity id (an entity.ID) as an extra first
// parameter, so that it cannot be forgotten. All faults are reported at once.
func BindMethods(script reflect.Type, desc []*property.Method, cell bool) (*Methods, error) {
	t := &Methods{desc: desc, funcs: make([]reflect.Value, len(desc)), ins: make([][]reflect.Type, len(desc)), asks: make([]bool, len(desc)), quick: make([]quick, len(desc)), fails: make([]bool, len(desc))}
	var faults []error
	for i, d := range desc {
		name := property.GoName(d.Name)
		m, ok := script.MethodByName(name)
		if !ok {
			faults = append(faults, fmt.Errorf("%s: no Go method %s for method %q; add func (%s) %s", script, name, d.Name, script, name))
			continue
		}
		want := 1 + len(d.Args)
		hidden := cell && d.Exposed != property.NotExposed
		if hidden {
			want++
		}
		results := m.Type.NumOut()
		if results > 0 && m.Type.Out(results-1) == reflect.TypeFor[error]() {
			t.fails[i] = true
			results--
		}
		if m.Type.NumIn() != want || results != len(d.Returns) {
			faults = append(faults, fmt.Errorf("%s.%s: takes %d parameters and returns %d values, but method %q needs %d and %s%s",
				script, name, m.Type.NumIn()-1, results, d.Name, want-1, wantedResults(len(d.Returns)), hiddenNote(hidden)))
			continue
		}
		for j, a := range d.Returns {
			if err := fits(m.Type.Out(j), a.Type); err != nil {
				faults = append(faults, fmt.Errorf("%s.%s: result %d (%s): %w", script, name, j+1, a.Name, err))
			}
		}
		if m.Type.IsVariadic() {
			// Call would take the list for one element of it, and panic when a client calls.
			faults = append(faults, fmt.Errorf("%s.%s: it is variadic; take the list as a slice", script, name))
			continue
		}
		in := 1
		if hidden {
			if m.Type.In(1) != reflect.TypeFor[entity.ID]() {
				faults = append(faults, fmt.Errorf("%s.%s: the first parameter of an exposed cell method is the caller's entity.ID, not %s", script, name, m.Type.In(1)))
				continue
			}
			in++
		}
		for j, a := range d.Args {
			if err := fits(m.Type.In(in+j), a.Type); err != nil {
				faults = append(faults, fmt.Errorf("%s.%s: argument %d (%s): %w", script, name, j+1, a.Name, err))
			}
			t.ins[i] = append(t.ins[i], m.Type.In(in+j))
		}
		t.funcs[i], t.asks[i] = m.Func, hidden
	}
	return t, errors.Join(faults...)
}

func wantedResults(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func hiddenNote(hidden bool) string {
	if hidden {
		return " (the first is the caller's entity.ID)"
	}
	return ""
}

// Description returns the description of method index, or an error for an index
// out of range, which comes from outside.
func (t *Methods) Description(index int) (*property.Method, error) {
	if index < 0 || index >= len(t.desc) {
		return nil, fmt.Errorf("%w: index %d", entity.ErrNoMethod, index)
	}
	return t.desc[index], nil
}

// Call decodes args and calls method index of script; p is for that alone. The error says why it was
// not called. A panic of the script passes through: the caller contains it.
func (t *Methods) Call(p *Parameters, script reflect.Value, index int, source entity.ID, args []byte) (Results, error) {
	d, err := t.Description(index)
	if err != nil {
		return Results{}, err
	}
	p.reset(len(d.Args))
	p.values, err = d.ReadArgsInto(p.values, args)
	if err != nil {
		return Results{}, fmt.Errorf("%w: %w", entity.ErrArguments, err)
	}
	if call := t.quick[index]; call != nil {
		var v property.Value
		if len(p.values) > 0 {
			v = p.values[0]
		}
		call(script.Interface(), source, v)
		return Results{desc: d}, nil
	}
	p.in = append(p.in, script)
	if t.asks[index] {
		p.in = append(p.in, put(&p.source, source))
	}
	for i, v := range p.values {
		p.in = append(p.in, p.cells[i].hold(v, d.Args[i].Type, t.ins[index][i]))
	}
	x := Results{desc: d, out: t.funcs[index].Call(p.in)}
	if t.fails[index] {
		x.err, _ = x.out[len(x.out)-1].Interface().(error)
	}
	return x, nil
}

// Scan sets what dst point to with the results of a method, for entity.Reply.
func Scan(m *property.Method, values []property.Value, dst []any) error {
	if len(dst) != len(values) || len(values) != len(m.Returns) {
		return fmt.Errorf("%w: %s: %d pointers for %d results", entity.ErrArguments, m.Name, len(dst), len(m.Returns))
	}
	for i, v := range values {
		p := reflect.ValueOf(dst[i])
		if p.Kind() != reflect.Pointer || p.IsNil() {
			return fmt.Errorf("%w: %s: result %d goes to a pointer, not a %T", entity.ErrArguments, m.Name, i+1, dst[i])
		}
		if err := fits(p.Type().Elem(), m.Returns[i].Type); err != nil {
			return fmt.Errorf("%w: %s: result %d: %w", entity.ErrArguments, m.Name, i+1, err)
		}
		p.Elem().Set(toGo(v, m.Returns[i].Type, p.Type().Elem()))
	}
	return nil
}
