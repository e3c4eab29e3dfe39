package property

// parseScheme reads <UpdateScheme> <minDelta> 1 </minDelta> <maxDelta> 20 </maxDelta> <distance> 100
// </distance> </UpdateScheme>. The names are those of BigWorld's schemes, which it has in its
// configuration.
func (l *loader) parseScheme(e *element) *UpdateScheme {
	s := &UpdateScheme{}
	l.noText(e, e.name)
	l.once(e, e.name, "")
	for _, c := range e.children {
		path := e.name + "/" + c.name
		switch c.name {
		case "minDelta":
			s.Min = l.metres(c, path)
		case "maxDelta":
			s.Max = l.metres(c, path)
		case "distance":
			s.Distance = l.metres(c, path)
		default:
			l.unknown(c, e.name)
			continue
		}
		l.noChildren(c, path)
	}
	return s
}
