// Package model writes a [property.Schema] as plain data, for tools in any language: encoding/json
// makes the text. Command defcheck prints it.
package model

import (
	"encoding/hex"
	"encoding/json"
	"math"

	"github.com/cellscape/cellscape/property"
)

// Schema is a [property.Schema] as plain data, for tools in any language: encoding/json writes it,
// and the same Schema always gives the same bytes. Nothing that a definition says is missing from
// it. Fields that are absent from the JSON are false, 0 or empty, but for ids and indices, which
// are always there and -1 where there is none.
type Schema struct {
	Dialect      string          `json:"dialect,omitempty"` // BigWorld or KBEngine; none for a Schema described in Go
	Digest       string          `json:"digest"`            // hexadecimal
	ClientDigest string          `json:"clientDigest"`
	Types        []Type          `json:"types"`
	Services     []Service       `json:"services,omitempty"`
	Aliases      []Alias         `json:"aliases,omitempty"`
	Notices      property.Faults `json:"notices,omitempty"`
	// NeedCodec are the USER_TYPEs for which no property.UserCodec was given.
	NeedCodec []property.MissingType `json:"needCodec,omitempty"`
}

// Type is an entity type.
type Type struct {
	Name       string `json:"name"`
	ID         int    `json:"id"`
	ClientID   int    `json:"clientId"`
	ClientName string `json:"clientName,omitempty"` // the type as which clients see it
	Dialect    string `json:"dialect,omitempty"`
	Cell       bool   `json:"cell"`
	Base       bool   `json:"base"`
	Client     bool   `json:"client"`

	Persistent         bool                   `json:"persistent,omitempty"`
	ExplicitDatabaseID bool                   `json:"explicitDatabaseID,omitempty"`
	DetailedVolatile   bool                   `json:"detailedVolatile,omitempty"`
	ManualAoI          bool                   `json:"manualAoI,omitempty"`
	AppealRadius       Metres                 `json:"appealRadius,omitempty"`
	Volatile           *Volatile              `json:"volatile,omitempty"`
	UpdateScheme       *property.UpdateScheme `json:"updateScheme,omitempty"`
	Compression        *property.Compression  `json:"compression,omitempty"`
	Levels             []property.DetailLevel `json:"levels,omitempty"` // nearest first
	Components         []property.Component   `json:"components,omitempty"`
	TempProperties     []string               `json:"tempProperties,omitempty"`
	Properties         []Property             `json:"properties,omitempty"` // by index, the order of streams
	CellMethods        []Method               `json:"cellMethods,omitempty"`
	BaseMethods        []Method               `json:"baseMethods,omitempty"`
	ClientMethods      []Method               `json:"clientMethods,omitempty"`
	Kept               []property.Kept        `json:"kept,omitempty"`
}

// Service is a service.
type Service struct {
	Name    string   `json:"name"`
	ID      int      `json:"id"`
	Methods []Method `json:"methods,omitempty"`
}

// Alias is a name for a data type.
type Alias struct {
	Name string `json:"name"`
	DataType
	Default string          `json:"default,omitempty"`
	Kept    []property.Kept `json:"kept,omitempty"`
}

// Metres is a distance; in JSON it is a number, or "always" where there is no limit.
type Metres float32

// MarshalJSON writes the distance.
func (m Metres) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(m), 1) {
		return []byte(`"always"`), nil
	}
	return json.Marshal(float32(m))
}

// Volatile says to what distance position and direction are sent.
type Volatile struct {
	Position Metres `json:"position"`
	Yaw      Metres `json:"yaw"`
	Pitch    Metres `json:"pitch"`
	Roll     Metres `json:"roll"`
}

// Property is a property of an entity type.
type Property struct {
	Name        string `json:"name"`
	Component   string `json:"component,omitempty"`
	Index       int    `json:"index"`
	ClientIndex int    `json:"clientIndex"`
	Flags       string `json:"flags"`
	DataType
	Default     string `json:"default,omitempty"` // in the form of DataType.AppendText
	DetailLevel string `json:"detailLevel,omitempty"`
	Level       int    `json:"level"`

	Persistent       bool            `json:"persistent,omitempty"`
	Identifier       bool            `json:"identifier,omitempty"`
	Indexed          bool            `json:"indexed,omitempty"`
	Unique           bool            `json:"unique,omitempty"`
	DatabaseLength   int             `json:"databaseLength,omitempty"`
	SendLatestOnly   bool            `json:"sendLatestOnly,omitempty"`
	Unreliable       bool            `json:"unreliable,omitempty"`
	ExposedForReplay bool            `json:"exposedForReplay,omitempty"`
	WarnBytes        int             `json:"warnBytes,omitempty"`
	Editable         bool            `json:"editable,omitempty"`
	Kept             []property.Kept `json:"kept,omitempty"`
}

// Method is a method of one side.
type Method struct {
	Name           string          `json:"name"`
	Component      string          `json:"component,omitempty"`
	Index          int             `json:"index"`
	ExposedIndex   int             `json:"exposedIndex"`
	Exposed        string          `json:"exposed,omitempty"`
	Args           []Arg           `json:"args,omitempty"`
	Returns        []Arg           `json:"returns,omitempty"`
	DetailDistance Metres          `json:"detailDistance,omitempty"`
	SendLatestOnly bool            `json:"sendLatestOnly,omitempty"`
	Unreliable     bool            `json:"unreliable,omitempty"`
	ReplayExposure string          `json:"replayExposure,omitempty"` // NONE or ALL_CLIENTS; absent for OTHER_CLIENTS
	WarnBytes      int             `json:"warnBytes,omitempty"`
	Kept           []property.Kept `json:"kept,omitempty"`
}

// Arg is an argument or a return value.
type Arg struct {
	Name string `json:"name,omitempty"`
	DataType
}

// DataType is a data type: in words, and for a composite one its parts.
type DataType struct {
	Type  string `json:"type"` // property.DataType.String
	Shape *Shape `json:"shape,omitempty"`
}

// Shape is the parts of a composite data type.
type Shape struct {
	Kind          string    `json:"kind"`
	Key           *DataType `json:"key,omitempty"` // MAP
	Of            *DataType `json:"of,omitempty"`  // ARRAY, TUPLE, MAP
	Size          int       `json:"size,omitempty"`
	PersistAsBlob bool      `json:"persistAsBlob,omitempty"`
	AllowNone     bool      `json:"allowNone,omitempty"` // FIXED_DICT, as what follows
	ImplementedBy string    `json:"implementedBy,omitempty"`
	Fields        []Field   `json:"fields,omitempty"`
	StoreType     *DataType `json:"storeType,omitempty"` // USER_TYPE
}

// Field is a field of a FIXED_DICT.
type Field struct {
	Name string `json:"name"`
	DataType
	Default        string `json:"default,omitempty"`
	DatabaseLength int    `json:"databaseLength,omitempty"`
	Transient      bool   `json:"transient,omitempty"` // the store leaves it out
}

// Of returns a Schema as plain data.
func Of(s *property.Schema) *Schema {
	m := &Schema{
		Dialect: s.Dialect.String(),
		Digest:  hex.EncodeToString(s.Digest[:]), ClientDigest: hex.EncodeToString(s.ClientDigest[:]),
		Types: each(s.Types, typeOf),
		Services: each(s.Services, func(d *property.Definition) Service {
			return Service{d.Name, int(d.ID), each(d.BaseMethods, methodOf)}
		}),
		Aliases: each(s.Aliases, func(a property.Alias) Alias {
			return Alias{a.Name, dataType(a.Type), a.Type.DefaultText(a.Type.Default()), a.Kept}
		}),
		Notices: s.Notices, NeedCodec: s.MissingTypes,
	}
	if m.Types == nil {
		m.Types = []Type{}
	}
	return m
}

func each[T, M any](list []T, model func(T) M) []M {
	if len(list) == 0 {
		return nil
	}
	models := make([]M, len(list))
	for i, x := range list {
		models[i] = model(x)
	}
	return models
}

func typeOf(d *property.Definition) Type {
	m := Type{
		Name: d.Name, ID: int(d.ID), ClientID: -1, ClientName: d.ClientName, Dialect: d.Dialect.String(),
		Cell: d.HasCell, Base: d.HasBase, Client: d.HasClient,
		Persistent: d.Persistent, ExplicitDatabaseID: d.ExplicitDatabaseID, DetailedVolatile: d.DetailedVolatile, ManualAoI: d.ManualAoI,
		AppealRadius: Metres(d.AppealRadius), Levels: d.Levels, Components: d.Components, TempProperties: d.TempProperties,
		Properties:  each(d.Properties, propertyOf),
		CellMethods: each(d.CellMethods, methodOf), BaseMethods: each(d.BaseMethods, methodOf), ClientMethods: each(d.ClientMethods, methodOf),
		Kept: d.Kept,
	}
	if d.ClientID != property.NoClientID {
		m.ClientID = int(d.ClientID)
	}
	if v := d.Volatile; !v.IsZero() {
		m.Volatile = &Volatile{Metres(v.Position), Metres(v.Yaw), Metres(v.Pitch), Metres(v.Roll)}
	}
	if d.UpdateScheme != (property.UpdateScheme{}) {
		m.UpdateScheme = &d.UpdateScheme
	}
	if d.Compression != (property.Compression{}) {
		m.Compression = &d.Compression
	}
	return m
}

func propertyOf(p *property.Property) Property {
	return Property{
		Name: p.Name, Component: p.Component, Index: p.Index, ClientIndex: p.ClientIndex, Flags: p.Flags.String(),
		DataType: dataType(p.Type), Default: p.Type.DefaultText(p.Default), DetailLevel: p.Detail, Level: p.Level,
		Persistent: p.Persistent, Identifier: p.Identifier, Indexed: p.Indexed, Unique: p.Unique, DatabaseLength: p.DatabaseLength,
		SendLatestOnly: p.SendLatestOnly, Unreliable: p.Unreliable, ExposedForReplay: p.ExposedForReplay,
		WarnBytes: p.WarnBytes, Editable: p.Editable, Kept: p.Kept,
	}
}

func methodOf(m *property.Method) Method {
	arg := func(a property.Arg) Arg { return Arg{a.Name, dataType(a.Type)} }
	model := Method{
		Name: m.Name, Component: m.Component, Index: m.Index, ExposedIndex: m.ExposedIndex, Exposed: m.Exposed.String(),
		Args: each(m.Args, arg), Returns: each(m.Returns, arg), DetailDistance: Metres(m.DetailDistance),
		SendLatestOnly: m.SendLatestOnly, Unreliable: m.Unreliable, WarnBytes: m.WarnBytes, Kept: m.Kept,
	}
	if m.ReplayExposure != property.ReplayOther {
		model.ReplayExposure = m.ReplayExposure.String()
	}
	return model
}

func dataType(t *property.DataType) DataType {
	m := DataType{Type: t.String()}
	shape := &Shape{Kind: t.Kind().String()}
	part := func(t *property.DataType) *DataType {
		m := dataType(t)
		return &m
	}
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		shape.Of, shape.Size, shape.PersistAsBlob = part(t.Elem()), t.Size(), t.PersistAsBlob()
	case property.KindMap:
		shape.Key, shape.Of = part(t.Key()), part(t.Elem())
	case property.KindUser:
		shape.ImplementedBy, shape.StoreType = t.UserName(), part(t.StoreType())
	case property.KindFixedDict:
		shape.AllowNone, shape.ImplementedBy = t.AllowsNone(), t.ImplementedBy()
		shape.Fields = each(t.Fields(), func(f property.DictField) Field {
			return Field{f.Name, dataType(f.Type), f.Type.DefaultText(f.Default), f.DatabaseLength, f.Transient}
		})
	default:
		return m
	}
	m.Shape = shape
	return m
}
