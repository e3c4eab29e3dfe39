package property

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// element is an XML element of a definition file. The dialect mixes text and children: <Type> ARRAY <of> INT8 </of> </Type>.
type element struct {
	position
	name     string
	text     string // all its own text, trimmed
	attrs    []xml.Attr
	children []*element
}

// child returns the first child of that name, or nil.
func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

var errTooLarge = errors.New("file is too large")

// readFile reads a file of bounded size, whatever size it claims.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err == nil && len(data) > MaxFileSize {
		err = errTooLarge
	}
	return data, err
}

// parseXML reads a file of one root element, or reports why it cannot and returns nil.
func parseXML(file string, data []byte, r *report) *element {
	dec := xml.NewDecoder(bytes.NewReader(data))
	var root *element
	var stack []*element
	var texts [][]byte // own text of each open element
	for {
		line, _ := dec.InputPos()
		at := position{file, line}
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			var syntax *xml.SyntaxError
			problem := err.Error()
			if errors.As(err, &syntax) {
				at.line, problem = syntax.Line, syntax.Msg
			}
			r.fault(at, "", "malformed XML: "+strings.TrimPrefix(problem, "xml: "), "write UTF-8 and close every element")
			return nil
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{position: at, name: token.Name.Local, attrs: token.Attr}
			switch {
			case len(stack) >= MaxDepth:
				r.fault(at, e.name, fmt.Sprintf("elements are nested deeper than %d", MaxDepth), "flatten the definition")
				return nil
			case len(stack) > 0:
				parent := stack[len(stack)-1]
				parent.children = append(parent.children, e)
			case root != nil:
				r.fault(at, e.name, "a second root element", "wrap everything in one <root>")
				return nil
			default:
				root = e
			}
			stack, texts = append(stack, e), append(texts, nil)
		case xml.EndElement:
			n := len(stack) - 1
			stack[n].text = strings.TrimSpace(string(texts[n]))
			stack, texts = stack[:n], texts[:n]
		case xml.CharData:
			if n := len(texts); n > 0 {
				texts[n-1] = append(texts[n-1], token...)
			} else if len(bytes.TrimSpace(token)) > 0 && root != nil {
				r.fault(at, "", "text after the root element", "remove it")
				return nil
			}
		}
	}
	if root == nil {
		r.fault(position{file, 1}, "", "no XML element", "begin with <root>")
	}
	return root
}
