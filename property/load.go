package property

import (
	"errors"
	"fmt"
	"io/fs"
)

// Where things are in a definition tree.
const (
	scriptsDir        = "scripts/" // a resource tree has everything below it
	entitiesFile      = "entities.xml"
	servicesFile      = "services.xml"
	userObjectsFile   = "user_data_objects.xml"
	clientScriptsDir  = "client"
	defsDir           = "entity_defs/"
	interfacesDir     = "entity_defs/interfaces/"
	componentsDirKBE  = "entity_defs/components/"
	componentsDirBW   = "component_defs/"
	serviceDefsDir    = "service_defs/"
	defSuffix         = ".def"
	missingFileRemedy = "create it, or correct the name"
	unknownElement    = "unknown element"
	unknownRemedy     = "remove it, or correct its name"
	removeOneRemedy   = "remove one of the two"
)

// aliasFiles are read if they exist. They have BigWorld's name or KBEngine's, and lie beside the
// list or beside the definitions.
var aliasFiles = [...]struct {
	name    string
	dialect Dialect
}{
	{"alias.xml", DialectBigWorld}, {"types.xml", DialectKBEngine},
	{defsDir + "alias.xml", DialectBigWorld}, {defsDir + "types.xml", DialectKBEngine},
}

// Options are what a tree needs and does not hold itself.
type Options struct {
	// UserTypes are the types made by [NewUserType], by the name that a USER_TYPE of the tree is
	// implementedBy.
	UserTypes map[string]*DataType
	// Survey loads a tree to be looked at, before the codecs of its USER_TYPEs are written: one
	// that UserTypes does not have is a notice, and is in [Schema.MissingTypes], in place of a
	// fault. Values of such a type are bytes that nobody understands, its defaults are not read,
	// and the digests are not those of the tree: no server may run on the Schema.
	Survey bool
}

// Load reads a definition tree in the dialect of BigWorld or KBEngine; both are understood
// throughout:
//
//	entities.xml                       the list of entity types, whose order gives their ids
//	alias.xml, types.xml               names for data types; also in entity_defs/
//	entity_defs/<Name>.def             one type, or a Parent
//	entity_defs/interfaces/<I>.def     what several types implement
//	component_defs/<C>.def             a component; also in entity_defs/components/
//	services.xml, service_defs/<S>.def services: methods without entities
//
// If there is no list here but there is one in scripts/, everything is looked for there.
//
// A type has the properties and methods of its Parent first, then of its interfaces in order, then
// its own, then those of its components; one that it declares again keeps its place and takes the
// new form.
//
// A default is read in every spelling that the originals read: (0,0,0) and 0 0 0, 5L, 1.0f, the
// literals of their script language for free values, lists and records. A notice tells where they
// read something other than the text says. A USER_TYPE without codec is a fault like another;
// [Options].Survey looks at a tree before its codecs are written.
//
// All faults are found at once: the error is a [Faults], each naming file, line, element and
// remedy, and no Schema comes with it. [Schema.Notices] tells what was read differently from what
// the tree says, and what nothing acts on yet. Elements that have no meaning on a server are in
// Kept. Load is [LoadWith] without options. Sources: seed S1, seed S4 §6.1.6.
func Load(fsys fs.FS) (*Schema, error) { return LoadWith(fsys, Options{}) }

// LoadDir is [Load] of the tree in a folder of fsys: what is embedded keeps the folder's name.
func LoadDir(fsys fs.FS, dir string) (*Schema, error) {
	tree, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("property: %w", err)
	}
	return Load(tree)
}

// LoadWith is [Load] of a tree that needs what o holds.
func LoadWith(fsys fs.FS, o Options) (*Schema, error) {
	l := newLoader(fsys, o)
	definitions, dialect := l.read()
	if dialect == DialectKBEngine && l.blobs { // there a BLOB's default is its bytes; elsewhere it is base64
		l = newLoader(fsys, o)
		l.rawBlobs = true
		definitions, dialect = l.read()
	}
	for _, d := range definitions {
		d.Dialect = dialect
		l.settle(d)
	}
	s := build(definitions, l.report)
	missing := l.tellMissing()
	if err := l.err(); err != nil {
		return nil, err
	}
	s.MissingTypes = missing
	s.Notices, s.Dialect, s.Aliases = l.notices, dialect, l.aliasList
	return s, nil
}

func newLoader(fsys fs.FS, o Options) *loader {
	l := &loader{
		report: newReport(), fsys: fsys, options: o,
		aliases: make(map[string]*alias), described: make(map[string]*description), flattened: make(map[flatKey]*flat),
		noVolatile: make(map[string]bool),
	}
	if !l.exists(entitiesFile) {
		if l.root = scriptsDir; !l.exists(entitiesFile) {
			l.root = ""
		}
	}
	return l
}

// read reads the whole tree, and finds out of what dialect it is.
func (l *loader) read() ([]*Definition, Dialect) {
	l.aliasList = l.readAliases()
	definitions := append(l.readEntities(), l.readServices()...)
	l.readUserObjects()
	dialect := l.evidence.decide()
	l.evidence.noticeMixture(l.report, dialect)
	return definitions, dialect
}

type loader struct {
	*report
	fsys      fs.FS
	root      string // scriptsDir or ""
	options   Options
	aliases   map[string]*alias
	described map[string]*description // by file
	flattened map[flatKey]*flat
	evidence  evidence
	// noVolatile are the types of which neither their file nor what it inherits has a Volatile.
	noVolatile map[string]bool
	elements   int // of all composite types; see maxTreeElements
	keeper     keeper
	// textOnly is set where a value is parsed that no tree declares: a mailbox may then be stated.
	textOnly bool
	// blobs says that some BLOB has a default, rawBlobs that those are bytes as they stand.
	blobs, rawBlobs bool
	aliasList       []Alias
	standIns        map[string]*DataType // by the name of a USER_TYPE that is not given
	missing         []missingUse
}

// exists reports whether the tree has a file of that name.
func (l *loader) exists(file string) bool {
	_, err := fs.Stat(l.fsys, l.root+file)
	return !errors.Is(err, fs.ErrNotExist)
}

// open reads and parses a file that must be there; from is the place that asks for it. If there is
// nothing to go on with, it reports why and returns nil.
func (l *loader) open(file string, from position, path, remedy string) *element {
	file = l.root + file
	data, err := readFile(l.fsys, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if from.file == "" {
			from.file, path = file, ""
		}
		l.fault(from, path, "there is no file "+file, remedy)
	case errors.Is(err, errTooLarge):
		l.fault(position{file: file}, "", fmt.Sprintf("file is larger than %d bytes", MaxFileSize), "split it with Parent or Implements")
	case err != nil:
		l.fault(position{file: file}, "", "cannot be read: "+err.Error(), "make it a readable file")
	default:
		return parseXML(file, data, l.report)
	}
	return nil
}
