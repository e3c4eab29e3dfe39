package property

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

func (d *Definition) model() ModelType {
	m := ModelType{
		Name: d.Name, ID: int(d.ID), ClientID: -1, ClientName: d.ClientName, Dialect: d.Dialect.String(),
		Cell: d.HasCell, Base: d.HasBase, Client: d.HasClient,
		Persistent: d.Persistent, ExplicitDatabaseID: d.ExplicitDatabaseID, DetailedVolatile: d.DetailedVolatile, ManualAoI: d.ManualAoI,
		AppealRadius: Metres(d.AppealRadius),
		Levels: each(d.Levels, func(l DetailLevel) ModelLevel {
			return ModelLevel{l.Label, Metres(l.Radius), Metres(l.Hysteresis)}
		}),
		Components:     each(d.Components, func(c Component) ModelComponent { return ModelComponent(c) }),
		TempProperties: d.TempProperties,
		Properties:     each(d.Properties, (*Property).model),
		CellMethods:    each(d.CellMethods, (*Method).model),
		BaseMethods:    each(d.BaseMethods, (*Method).model),
		ClientMethods:  each(d.ClientMethods, (*Method).model),
		Kept:           each(d.Kept, Kept.model),
	}
	if d.ClientID != NoClientID {
		m.ClientID = int(d.ClientID)
	}
	if v := d.Volatile; !v.IsZero() {
		m.Volatile = &ModelVolatile{Metres(v.Position), Metres(v.Yaw), Metres(v.Pitch), Metres(v.Roll)}
	}
	if c := d.Compression; c != (Compression{}) {
		m.Compression = &ModelCompression{c.Internal, c.External}
	}
	return m
}

func (d *Definition) serviceModel() ModelService {
	return ModelService{d.Name, int(d.ID), each(d.BaseMethods, (*Method).model)}
}

func (a Alias) model() ModelAlias {
	return ModelAlias{a.Name, a.Type.model(), a.Type.defaultText(a.Type.Default()), each(a.Kept, Kept.model)}
}

func (k Kept) model() ModelKept { return ModelKept(k) }

func (p *Property) model() ModelProperty {
	return ModelProperty{
		Name: p.Name, Component: p.Component, Index: p.Index, ClientIndex: p.ClientIndex, Flags: p.Flags.String(),
		ModelValueType: p.Type.model(), Default: p.Type.defaultText(p.Default), DetailLevel: p.Detail, Level: p.Level,
		Persistent: p.Persistent, Identifier: p.Identifier, Indexed: p.Indexed, Unique: p.Unique, DatabaseLength: p.DatabaseLength,
		SendLatestOnly: p.SendLatestOnly, Unreliable: p.Unreliable, ExposedForReplay: p.ExposedForReplay,
		WarnBytes: p.WarnBytes, Editable: p.Editable, Kept: each(p.Kept, Kept.model),
	}
}

func (m *Method) model() ModelMethod {
	arg := func(a Arg) ModelArg { return ModelArg{a.Name, a.Type.model()} }
	model := ModelMethod{
		Name: m.Name, Component: m.Component, Index: m.Index, ExposedIndex: m.ExposedIndex, Exposed: m.Exposed.String(),
		Args: each(m.Args, arg), Returns: each(m.Returns, arg), DetailDistance: Metres(m.DetailDistance),
		SendLatestOnly: m.SendLatestOnly, Unreliable: m.Unreliable, WarnBytes: m.WarnBytes, Kept: each(m.Kept, Kept.model),
	}
	if m.ReplayExposure != ReplayOther {
		model.ReplayExposure = m.ReplayExposure.String()
	}
	return model
}

func (t *DataType) model() ModelValueType {
	m := ModelValueType{Type: t.String()}
	part := func(t *DataType) *ModelValueType {
		m := t.model()
		return &m
	}
	shape := &ModelShape{Kind: t.kind.String()}
	switch t.kind {
	case KindArray, KindTuple:
		shape.Of, shape.Size, shape.PersistAsBlob = part(t.elem), t.size, t.PersistAsBlob()
	case KindMap:
		shape.Key, shape.Of = part(t.key), part(t.elem)
	case KindUser:
		shape.ImplementedBy, shape.StoreType = t.UserName(), part(t.StoreType())
	case KindFixedDict:
		shape.AllowNone, shape.ImplementedBy = t.allowNone, t.ImplementedBy()
		shape.Fields = each(t.fields, func(f DictField) ModelField {
			return ModelField{f.Name, f.Type.model(), f.Type.defaultText(f.Default), f.DatabaseLength, f.Transient}
		})
	default:
		return m
	}
	m.Shape = shape
	return m
}

// defaultText writes a default as a definition file holds it.
func (t *DataType) defaultText(v Value) string {
	b, err := t.AppendText(nil, v)
	if err != nil {
		return "<!-- " + err.Error() + " -->" // of a codec that refuses its own value
	}
	return string(b)
}
