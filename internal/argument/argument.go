// Package argument turns Go values, as scripts give them, into encoded arguments and results of methods.
package argument

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/property"
)

// Err is what all errors of arguments are: entity.ErrArguments.
var Err = errors.New("entity: arguments do not fit the method")

// addressed is a part of an entity that can be passed as its mailbox: a script that embeds *entity.Base or
// *space.Real, or an entity.Mailbox.
type addressed interface{ MailboxValue() property.Mailbox }

// toValue turns a Go value, as entity.Mailbox.Call takes it, into a value of type t. Encoding checks
// whether a number is in range.
func toValue(t *property.DataType, a any) (property.Value, error) {
	if v, ok := a.(property.Value); ok {
		return v, nil
	}
	switch t.Kind() {
	case property.KindAny:
		return property.AnyValue(a)
	case property.KindMailbox:
		return mailboxValue(a)
	case property.KindArray, property.KindTuple:
		return listValue(t, a)
	case property.KindMap:
		return mapValue(t, a)
	}
	return scalarValue(a)
}

func mailboxValue(a any) (property.Value, error) {
	switch m := a.(type) {
	case property.Mailbox:
		return property.MailboxValue(m), nil
	case addressed:
		return property.MailboxValue(m.MailboxValue()), nil
	}
	return property.Value{}, fmt.Errorf("a %T is not a mailbox", a)
}

func listValue(t *property.DataType, a any) (property.Value, error) {
	s := reflect.ValueOf(a)
	if s.Kind() != reflect.Slice {
		return property.Value{}, fmt.Errorf("a %T is not a list", a)
	}
	list := make([]property.Value, s.Len())
	for i := range list {
		var err error
		if list[i], err = toValue(t.Elem(), s.Index(i).Interface()); err != nil {
			return property.Value{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return property.List(list...), nil
}

func mapValue(t *property.DataType, a any) (property.Value, error) {
	m := reflect.ValueOf(a)
	if m.Kind() != reflect.Map {
		return property.Value{}, fmt.Errorf("a %T is not a map", a)
	}
	list := make([]property.Value, 0, 2*m.Len())
	// order does not show: the type sorts the pairs
	for pairs := m.MapRange(); pairs.Next(); { // MapIndex would not find a NaN
		k, err := toValue(t.Key(), pairs.Key().Interface())
		if err != nil {
			return property.Value{}, fmt.Errorf("key %v: %w", pairs.Key(), err)
		}
		v, err := toValue(t.Elem(), pairs.Value().Interface())
		if err != nil {
			return property.Value{}, fmt.Errorf("value of key %v: %w", pairs.Key(), err)
		}
		list = append(list, k, v)
	}
	return t.Fit(property.List(list...))
}

func scalarValue(a any) (property.Value, error) {
	switch v := a.(type) {
	case []byte:
		return property.Bytes(v), nil
	case property.Vector2:
		return property.Vec2(v), nil
	case property.Vector3:
		return property.Vec3(v), nil
	case property.Vector4:
		return property.Vec4(v), nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return property.Int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return property.Uint(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return property.Float(v.Float()), nil
	case reflect.Bool:
		return property.BoolValue(v.Bool()), nil
	case reflect.String:
		return property.StringValue(v.String()), nil
	}
	return property.Value{}, fmt.Errorf("a %T is not a property value", a)
}

// fewArgs is how many arguments of a call need no memory of their own while they are encoded.
const fewArgs = 4

// Append encodes Go values as the arguments of a method.
func Append(b []byte, m *property.Method, args []any) ([]byte, error) {
	var few [fewArgs]property.Value
	values, err := toValues(few[:0], m.Args, args)
	if err != nil {
		return b, err
	}
	out, err := m.AppendArgs(b, values)
	if err != nil {
		return b, fmt.Errorf("%w: %w", Err, err)
	}
	return out, nil
}

// AppendReturns encodes Go values as the results of a method.
func AppendReturns(b []byte, m *property.Method, results []any) ([]byte, error) {
	var few [fewArgs]property.Value
	values, err := toValues(few[:0], m.Returns, results)
	if err != nil {
		return b, err
	}
	out, err := m.AppendReturns(b, values)
	if err != nil {
		return b, fmt.Errorf("%w: %w", Err, err)
	}
	return out, nil
}

func toValues(values []property.Value, list []property.Arg, given []any) ([]property.Value, error) {
	if len(given) != len(list) {
		return nil, fmt.Errorf("%w: %d given, %d wanted", Err, len(given), len(list))
	}
	for i, a := range given {
		v, err := toValue(list[i].Type, a)
		if err != nil {
			return nil, fmt.Errorf("%w: argument %d (%s): %w", Err, i+1, list[i].Name, err)
		}
		values = append(values, v)
	}
	return values, nil
}
