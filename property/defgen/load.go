package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// load reads the definition tree.
func load(o *options) (*property.Schema, error) {
	o.standIns = len(o.users) > 0
	types := make(map[string]*property.DataType, len(o.users))
	for _, u := range o.users {
		t, err := property.NewUserType[struct{}](u.name, unknown{})
		if err != nil {
			return nil, err
		}
		types[u.name] = t
	}
	schema, err := property.LoadWith(os.DirFS(o.defs), property.Options{UserTypes: types})
	if err == nil {
		return schema, nil
	}
	err = fmt.Errorf("definitions in %s:\n%w", o.defs, err)
	var faults property.Faults
	if errors.As(err, &faults) && slices.ContainsFunc(faults, ofUserType) {
		const remedy = "For defgen, the type of a USER_TYPE is given by -user name=importpath.Type, with the name that it is implementedBy"
		err = fmt.Errorf("%w\n%s", err, remedy)
	}
	return nil, err
}

func ofUserType(f *property.Fault) bool { return strings.HasSuffix(f.Element, "/implementedBy") }

// unknown stands in for the codec of a USER_TYPE, which only the game has. No value is ever made of
// it.
type unknown struct{}

func (unknown) Default() struct{} { return struct{}{} }

func (unknown) Append(b []byte, _ struct{}) ([]byte, error) { return b, nil }

func (unknown) Read(b []byte) (x struct{}, rest []byte, err error) { return x, b, nil }

// StoreType can hold any text, so that every default of a tree is taken.
func (unknown) StoreType() *property.DataType { return property.Scalar(property.KindString) }

func (unknown) ToStore(struct{}) (property.Value, error) { return property.StringValue(""), nil }

func (unknown) FromStore(property.Value) (x struct{}, err error) { return x, nil }
