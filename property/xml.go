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

// element is an XML element of a definition file. The dialect mixes text and children: <Type> ARRAY
// <of> INT8 </of> </Type>.
type element struct {
	position
	name     string
	text     string // all its own text, trimmed
	attrs    []xml.Attr
	children []*element
	raw      []byte // what the file has between its tags
}

// inner returns an element's content for keeping: its text, or if it has children its XML as it is
// written.
func (e *element) inner() string {
	if len(e.children) == 0 {
		return e.text
	}
	return string(bytes.TrimSpace(e.raw))
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
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= MaxFileSize {
		b.Grow(int(info.Size()) + bytes.MinRead)
	}
	if _, err = b.ReadFrom(io.LimitReader(f, MaxFileSize+1)); err == nil && b.Len() > MaxFileSize {
		err = errTooLarge
	}
	return b.Bytes(), err
}

// parseXML reads a file of one root element, or reports why it cannot and returns nil.
func parseXML(file string, data []byte, r *report) *element {
	p := xmlParser{report: r, file: file, data: data, dec: xml.NewDecoder(bytes.NewReader(plainComments(data)))}
	p.dec.CharsetReader = p.otherEncoding
	for {
		p.line, _ = p.dec.InputPos()
		p.before = p.dec.InputOffset()
		// A raw token: names are not translated and tags not matched, which close does below. It is
		// much of the time that loading takes.
		token, err := p.dec.RawToken()
		if err == nil {
			switch token := token.(type) {
			case xml.StartElement:
				err = p.open(token)
			case xml.EndElement:
				err = p.close(token)
			case xml.CharData:
				err = p.characters(token)
			}
		} else if err == io.EOF {
			return p.end()
		}
		if err != nil {
			p.refuse(err)
			return nil
		}
	}
}

// plainComments returns a file with blanks for the dashes within its comments. XML forbids two of
// them together; the originals end a comment at --> and look at nothing before it, and people draw
// lines of dashes. Everything else stays in its place.
func plainComments(data []byte) []byte {
	const comment, literal = "<!--", "<![CDATA["
	plain := data
	for rest := data; ; {
		next := bytes.Index(rest, []byte("<!"))
		if next < 0 {
			return plain
		}
		rest = rest[next:]
		begin, end := comment, "-->"
		if bytes.HasPrefix(rest, []byte(literal)) {
			begin, end = literal, "]]>"
		} else if !bytes.HasPrefix(rest, []byte(comment)) {
			rest = rest[len("<!"):]
			continue
		}
		rest = rest[len(begin):]
		n := bytes.Index(rest, []byte(end))
		if n < 0 {
			return plain // the decoder tells what is not closed
		}
		if begin == comment && bytes.Contains(rest[:n+1], []byte("--")) {
			if &plain[0] == &data[0] {
				plain = bytes.Clone(data)
			}
			at := len(data) - len(rest)
			blankDashes(plain[at : at+n])
		}
		rest = rest[n:]
	}
}

func blankDashes(text []byte) {
	for i, c := range text {
		if c == '-' {
			text[i] = ' '
		}
	}
}

// xmlParser builds the tree of a file's elements.
type xmlParser struct {
	*report
	file   string
	data   []byte
	dec    *xml.Decoder
	line   int   // where the token begins
	before int64 // offset where it begins
	root   *element
	stack  []openElement // of it, those below depth are open; the others keep their buffers
	depth  int
	block  []element // of which elements are taken: one allocation for many
}

// openElement is an element whose end has not been read.
type openElement struct {
	*element
	text  []byte
	start int64 // offset where its content begins
}

// errReported stops a parse whose fault has been reported.
var errReported = errors.New("reported")

// otherEncoding refuses a file that says that it is not UTF-8. What its bytes mean then is for an
// editor to say.
func (p *xmlParser) otherEncoding(name string, _ io.Reader) (io.Reader, error) {
	p.fault(position{p.file, p.line}, "", fmt.Sprintf("the file says that it is in %q", shorten(name)), `save it as UTF-8, and write encoding="UTF-8" or nothing`)
	return nil, errReported
}

func (p *xmlParser) open(token xml.StartElement) error {
	at := position{p.file, p.line}
	name := fullName(token.Name)
	if p.depth >= MaxDepth {
		p.fault(at, name, fmt.Sprintf("elements are nested deeper than %d", MaxDepth), "flatten the definition")
		return errReported
	}
	if p.depth == 0 && p.root != nil {
		p.fault(at, name, "a second root element", "wrap everything in one <root>")
		return errReported
	}
	if len(p.block) == 0 {
		p.block = make([]element, 64)
	}
	e := &p.block[0]
	p.block = p.block[1:]
	e.position, e.name = at, name
	if len(token.Attr) > 0 {
		e.attrs = ownAttributes(token.Attr)
	}
	if p.depth == 0 {
		p.root = e
	} else {
		parent := p.stack[p.depth-1].element
		parent.children = append(parent.children, e)
	}
	if p.depth == len(p.stack) {
		p.stack = append(p.stack, openElement{})
	}
	o := &p.stack[p.depth]
	o.element, o.text, o.start = e, o.text[:0], p.dec.InputOffset()
	p.depth++
	return nil
}

// ownAttributes returns the attributes that are the dialect's: a declaration of a name space, which
// some editors add to the root, says nothing.
func ownAttributes(attrs []xml.Attr) (own []xml.Attr) {
	for _, a := range attrs {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			own = append(own, a)
		}
	}
	return own
}

func (p *xmlParser) close(token xml.EndElement) error {
	if p.depth == 0 {
		return &xml.SyntaxError{Line: p.line, Msg: "unexpected end element </" + token.Name.Local + ">"}
	}
	p.depth--
	o := &p.stack[p.depth]
	if name := fullName(token.Name); o.name != name {
		return &xml.SyntaxError{Line: p.line, Msg: "element <" + o.name + "> closed by </" + name + ">"}
	}
	o.element.text = string(bytes.TrimSpace(o.text))
	o.raw = p.data[o.start:max(o.start, p.before)]
	return nil
}

func (p *xmlParser) characters(text []byte) error {
	if p.depth > 0 {
		o := &p.stack[p.depth-1]
		o.text = append(o.text, text...)
		return nil
	}
	where := "after"
	if p.root == nil {
		where, text = "before", bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin a file with it
	}
	if len(bytes.TrimSpace(text)) > 0 {
		p.fault(position{p.file, p.line}, "", fmt.Sprintf("text %s the root element", where), "remove it")
		return errReported
	}
	return nil
}

// fullName is a name as it is written. A prefix is part of it: the dialect has none, and one
// dropped would be one not seen.
func fullName(name xml.Name) string {
	if name.Space == "" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

// end checks that nothing is missing at the end of the file.
func (p *xmlParser) end() *element {
	switch {
	case p.depth > 0:
		p.refuse(&xml.SyntaxError{Line: p.line, Msg: "unexpected EOF"})
		return nil
	case p.root == nil:
		p.fault(position{p.file, 1}, "", "no XML element", "begin with <root>")
	}
	return p.root
}

func (p *xmlParser) refuse(err error) {
	if errors.Is(err, errReported) {
		return
	}
	at, problem := position{p.file, p.line}, err.Error()
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		at.line, problem = syntax.Line, syntax.Msg
	}
	p.fault(at, "", "malformed XML: "+strings.TrimPrefix(problem, "xml: "), "write UTF-8 and close every element")
}
