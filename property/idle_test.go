package property

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// actors names, for each thing that a definition may say, a function that acts by it. What only
// reads, checks, copies, counts or shows definitions does not act. A name that only tells members
// apart needs nobody.
var actors = map[string]string{
	"Definition.Name":             "property.add",
	"Definition.AppealRadius":     "space.admit",
	"Definition.ClientName":       "property.compile",
	"Definition.Properties":       "witness.appendVisible",
	"Definition.CellMethods":      "space.NewScripts",
	"Definition.BaseMethods":      "baseapp.NewScripts",
	"Definition.ClientMethods":    "witness.audible",
	"Definition.Levels":           "property.LevelOf",
	"Definition.HasCell":          "space.NewScripts",
	"Definition.HasBase":          "baseapp.NewScripts",
	"Definition.HasClient":        "client.NewScripts",
	"Definition.Compression":      "property.compileCompression",
	"Definition.Volatile":         "witness.Show",
	"Definition.DetailedVolatile": "witness.Show",
	"Definition.ManualAoI":        "space.inSight",
	"Definition.UpdateScheme":     "witness.stepOf",
	"UpdateScheme.Min":            "witness.schemed",
	"UpdateScheme.Max":            "witness.schemed",
	"UpdateScheme.Distance":       "witness.schemed",
	"Volatile.Position":           "witness.travels",
	"Volatile.Yaw":                "witness.without",
	"Volatile.Pitch":              "witness.without",
	"Volatile.Roll":               "witness.without",
	"Compression.Internal":        "property.compileCompression",
	"Compression.External":        "property.compileCompression",
	"Definition.Persistent":       "store.NewSchema",
	"Property.Persistent":         "store.column",
	"Property.Identifier":         "store.column",
	"Property.Indexed":            "store.column",
	"Property.Unique":             "store.column",
	"Property.DatabaseLength":     "store.column",
	"DictField.Transient":         "store.shapeOf",
	"Property.Name":               "property.FindSetters",
	"Property.Type":               "property.bind",
	"Property.Flags":              "property.has",
	"Property.Default":            "property.NewValues",
	"Property.Detail":             "property.checkProperty",
	"Property.SendLatestOnly":     "protocol.AppendChange",
	"Property.Unreliable":         "property.compileStreams",
	"Property.ExposedForReplay":   "space.tapeChange",
	"Property.WarnBytes":          "property.Add",
	"Method.Name":                 "script.BindMethods",
	"Method.Args":                 "property.AppendArgs",
	"Method.Exposed":              "script.BindMethods",
	"Method.Returns":              "script.BindMethods",
	"Method.DetailDistance":       "witness.audible",
	"Method.SendLatestOnly":       "property.keep",
	"Method.Unreliable":           "witness.audible",
	"Method.ReplayExposure":       "space.tapeCall",
	"Method.WarnBytes":            "argument.Encode",
	"DetailLevel.Label":           "property.checkProperty",
	"DetailLevel.Radius":          "property.LevelOf",
	"DetailLevel.Hysteresis":      "property.LevelOf",
	"DictField.Name":              "property.Field",
	"DictField.Type":              "property.child",
	"DictField.Default":           "property.NewFixedDict",
	"Arg.Type":                    "property.appendList",
}

// tells are fields that no one needs to act by: names, and what the checks assign.
var tells = []string{
	"Definition.ID", "Definition.ClientID", "Definition.Components", "Definition.Service", "Definition.Dialect", "Definition.Kept",
	"Property.Index", "Property.ClientIndex", "Property.FixedIndex", "Property.Component", "Property.Level", "Property.Kept",
	"Method.Index", "Method.ExposedIndex", "Method.Component", "Method.Kept", "Arg.Name", "Component.Name", "Component.Type",
}

// Every setting of a definition is acted by, by whom actors says, or has a line in idle.go; and no
// line stays when somebody acts.
func TestSettingsAct(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the whole module with types")
	}
	readers := findReaders(t)
	idle := make(map[string]bool)
	for _, field := range idleFieldNames() {
		idle[field] = true
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Definition](), reflect.TypeFor[Property](), reflect.TypeFor[Method](), reflect.TypeFor[DetailLevel](),
		reflect.TypeFor[DictField](), reflect.TypeFor[Arg](), reflect.TypeFor[Component](), reflect.TypeFor[Compression](), reflect.TypeFor[Volatile](), reflect.TypeFor[UpdateScheme](),
	} {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := typ.Name() + "." + f.Name
			if !f.IsExported() || slices.Contains(tells, name) {
				continue
			}
			by := readers[name]
			switch actor := actors[name]; {
			case idle[name] && actor != "":
				t.Errorf("%s is idle and acted by", name)
			case idle[name] && len(by.acting) > 0:
				t.Errorf("%s is acted by in %v: take its line out of idle.go, and name one here", name, by.acting)
			case idle[name]:
			case actor == "":
				t.Errorf("%s is read, and neither acted by nor idle; readers are %v", name, by.all)
			case !slices.Contains(by.all, actor):
				t.Errorf("%s is not read by %s; readers are %v", name, actor, by.all)
			}
		}
	}
}

// idleFieldNames lists the Go fields of idle.go.
func idleFieldNames() (names []string) {
	for _, s := range idleDefinitions() {
		names = append(names, s.field)
	}
	for _, s := range idleProperties() {
		names = append(names, s.field)
	}
	for _, s := range idleTypes() {
		names = append(names, s.field)
	}
	for _, s := range idleFields() {
		names = append(names, s.field)
	}
	return names
}

// readerNames are functions, as package.Function.
type readerNames struct {
	all    []string // but those that load, show or hash definitions
	acting []string // and of these, but those that only check, copy, or serve what no one asks for
}

// findReaders finds who reads each field of the types of this package, by the types of the module's
// code.
func findReaders(t *testing.T) map[string]readerNames {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: ".."}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]readerNames)
	for _, p := range pkgs {
		if strings.Contains(p.PkgPath, "/examples/") || strings.Contains(p.PkgPath, "/defgen") || strings.HasSuffix(p.PkgPath, "/property/model") {
			continue // tools show definitions; games are no part of the library
		}
		for _, f := range p.Syntax {
			readersOf(p, f, found)
		}
	}
	return found
}

func readersOf(p *packages.Package, f *ast.File, found map[string]readerNames) {
	own := strings.HasSuffix(p.PkgPath, "cellscape/property")
	file := filepath.Base(p.Fset.Position(f.Pos()).Filename)
	begins := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(file, n) })
	}
	if own && begins("load", "digest", "idle") {
		return
	}
	passive := own && begins("check", "clientname", "build", "stream", "store", "values_store", "schema", "datatype")
	for _, d := range f.Decls {
		fn, passiveHere := "", passive
		if x, ok := d.(*ast.FuncDecl); ok {
			fn = p.Name + "." + x.Name.Name
			if own && x.Recv != nil && slices.Contains([]string{"describe", "store", "unstore"}, x.Name.Name) {
				passiveHere = true // of a form: digests, and the store that no one has
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			name := usedName(p.TypesInfo, n)
			if name == "" || fn == p.Name+"."+name[strings.LastIndexByte(name, '.')+1:] {
				return true
			}
			r := found[name]
			if !slices.Contains(r.all, fn) {
				r.all = append(r.all, fn)
			}
			if !passiveHere && !slices.Contains(r.acting, fn) {
				r.acting = append(r.acting, fn)
			}
			found[name] = r
			return true
		})
	}
}

// usedName is what a node uses of package property: Type.Field, Type.Method, or a constant.
func usedName(info *types.Info, n ast.Node) string {
	x, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	obj := info.Uses[x.Sel]
	if obj == nil || obj.Pkg() == nil || !strings.HasSuffix(obj.Pkg().Path(), "cellscape/property") {
		return ""
	}
	s := info.Selections[x]
	if s == nil {
		return obj.Name()
	}
	recv := s.Recv()
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	if named, ok := recv.(*types.Named); ok {
		return named.Obj().Name() + "." + obj.Name()
	}
	return ""
}

// loaded names, for each element that the loader knows, what it becomes: a field, "kept", or
// "structure" for what other elements stand in. It is compared with the loader's code.
var loaded = map[string]string{
	"Parent": "structure", "Implements": "structure", "Interfaces": "structure", "Interface": "structure", "Type": "structure", "interface": "structure", "type": "structure", "Properties": "structure",
	"CellMethods": "Definition.CellMethods", "BaseMethods": "Definition.BaseMethods", "Methods": "Definition.BaseMethods",
	"ClientMethods": "Definition.ClientMethods", "Components": "structure", "LoDLevels": "Definition.Levels", "DetailLevels": "Definition.Levels",
	"TempProperties": "Definition.TempProperties", "CellEvents": "notice",
	"Volatile": "Definition.Volatile", "position": "Definition.Volatile", "yaw": "Definition.Volatile", "pitch": "Definition.Volatile", "roll": "Definition.Volatile",
	"optimized": "kept", "AppealRadius": "Definition.AppealRadius", "Distribution": "structure", "Cell": "Definition.HasCell", "Base": "Definition.HasBase",
	"Client": "Definition.HasClient", "Persistent": "Property.Persistent", "ExplicitDatabaseID": "Definition.ExplicitDatabaseID",
	"ShouldSendDetailedVolatilePosition": "Definition.DetailedVolatile", "IsManualAoI": "Definition.ManualAoI", "IsManualAOI": "Definition.ManualAoI",
	"UpdateScheme": "Definition.UpdateScheme", "minDelta": "UpdateScheme.Min", "maxDelta": "UpdateScheme.Max", "distance": "UpdateScheme.Distance",
	"ClientName": "Definition.ClientName", "NetworkCompression": "Definition.Compression",
	"radius": "DetailLevel.Radius", "hyst": "DetailLevel.Hysteresis", "label": "DetailLevel.Label",
	"Flags": "Property.Flags", "Default": "Property.Default", "SendLatestOnly": "Property.SendLatestOnly", "IsReliable": "Property.Unreliable",
	"ExposedForReplay": "Property.ExposedForReplay", "Editable": "Property.Editable", "DetailLevel": "Property.Detail", "VariableLengthHeaderSize": "Property.WarnBytes",
	"Widget": "kept", "Utype": "kept", "TypeName": "kept", "Identifier": "Property.Identifier", "Indexed": "Property.Indexed", "Unique": "Property.Unique",
	"Index": "Property.Indexed", "DatabaseLength": "Property.DatabaseLength",
	"Arg": "Method.Args", "Args": "Method.Args", "ReturnValues": "Method.Returns", "Exposed": "Method.Exposed", "DetailDistance": "Method.DetailDistance",
	"ReplayExposureLevel": "Method.ReplayExposure", "of": "DictField.Type", "size": "structure", "persistAsBlob": "DataType.PersistAsBlob",
	"AllowNone": "structure", "implementedBy": "notice", "ClientServerEntities": "structure", "ServerOnlyEntities": "structure",
	"hasCell": "Definition.HasCell", "hasBase": "Definition.HasBase", "hasClient": "Definition.HasClient",
	"internal": "Compression.Internal", "external": "Compression.External", "level": "Compression.Internal",
}

// Every element that the loader's code knows is in the list above, and what it becomes is acted by
// or idle.
func TestEveryElementIsAccountedFor(t *testing.T) {
	idle := idleFieldNames()
	for element, what := range loaded {
		switch {
		case what == "kept" || what == "structure" || what == "notice":
		case actors[what] == "" && !slices.Contains(idle, what):
			t.Errorf("%s becomes %s, which is neither acted by nor idle", element, what)
		}
	}
	files, err := filepath.Glob("load_*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, seen := token.NewFileSet(), 0
	for _, file := range append(files, "compression.go") {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "load_spelling.go") {
			continue
		}
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			x, ok := n.(*ast.SwitchStmt)
			if !ok || !isElementName(x.Tag) {
				return true
			}
			for _, c := range x.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if lit, ok := e.(*ast.BasicLit); ok {
						name, _ := strconv.Unquote(lit.Value)
						if seen++; loaded[name] == "" {
							t.Errorf("%v: nothing is known of the element %s", fset.Position(lit.Pos()), name)
						}
					}
				}
			}
			return true
		})
	}
	if seen < 60 {
		t.Errorf("only %d elements found: the search looks for the wrong thing", seen)
	}
}

// isElementName reports whether a switch is over the name of an element or attribute.
func isElementName(tag ast.Expr) bool {
	sel, ok := tag.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "name" || sel.Sel.Name == "Local")
}
