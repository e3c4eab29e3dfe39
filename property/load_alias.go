package property

import (
	"fmt"
	"strings"
)

type alias struct {
	*element
	Alias
	state visit
}

// visit is how far a thing that may refer to others, and so to itself, has been read.
type visit uint8

const (
	unread visit = iota
	reading
	read
)

// readAliases reads all alias files and resolves every alias, used or not.
func (l *loader) readAliases() []Alias {
	var list []*alias
	for _, file := range aliasFiles {
		if !l.exists(file.name) {
			continue
		}
		root := l.open(file.name, position{}, "", missingFileRemedy)
		if root == nil {
			continue
		}
		l.evidence.note(file.dialect, file.name, root.position)
		l.noText(root, root.name)
		l.noAttributesBelow(root)
		for _, e := range root.children {
			if a := l.addAlias(e); a != nil {
				list = append(list, a)
			}
		}
	}
	resolved := make([]Alias, 0, len(list))
	for _, a := range list {
		l.resolve(a, nil)
		resolved = append(resolved, a.Alias)
	}
	return resolved
}

func (l *loader) addAlias(e *element) *alias {
	if err := checkName(e.name); err != nil {
		l.fault(e.position, "", "alias: "+err.Error(), nameRemedy)
		return nil
	}
	if k, ok := kindNamed(e.name); ok || refusedType(e.name) != "" {
		switch {
		case k == KindEntityID || k == KindBool:
			l.notice(e.position, e.name, fmt.Sprintf("%s is a type of its own here; what the alias says is not used", k), "remove the alias")
			return nil
		case k != KindAny && k != KindMap || e.name == "PYTHON":
			l.fault(e.position, e.name, "alias has the name of a data type", "rename it")
			return nil
		}
	}
	if other := l.aliases[e.name]; other != nil {
		l.fault(e.position, e.name, fmt.Sprintf("alias is declared twice, first at %v", other.position), removeOneRemedy)
		return nil
	}
	if len(l.aliases) >= MaxAliases {
		l.fault(e.position, e.name, fmt.Sprintf("more than %d aliases", MaxAliases), "remove those that are not used")
		return nil
	}
	a := &alias{element: e, Alias: Alias{Name: e.name}}
	l.aliases[e.name] = a
	return a
}

// resolve returns the type of an alias, nil if it is faulty. chain is the aliases that lead to it.
func (l *loader) resolve(a *alias, chain []string) *DataType {
	switch a.state {
	case read:
		return a.Type
	case reading:
		start := 0
		for i, name := range chain {
			if name == a.name {
				start = i
			}
		}
		l.fault(a.position, a.name, "cycle of aliases: "+strings.Join(append(chain[start:len(chain):len(chain)], a.name), " → "), "let one of them end in a data type")
		return nil
	}
	a.state = reading
	restore := l.keepIn(&a.Kept, a.name+"/")
	a.Type = l.parseType(a.element, a.name, append(chain[:len(chain):len(chain)], a.name))
	restore()
	a.state = read
	return a.Type
}
