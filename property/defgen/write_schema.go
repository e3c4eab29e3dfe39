package main

// writeSchema writes the digests and the functions that compare them.
func (g *generator) writeSchema() {
	g.printf("// Digests of the definitions that this file was generated from.\nconst (\n")
	if !g.opts.standIns {
		g.printf("SchemaDigest = \"%x\"\n", g.schema.Digest)
	}
	g.printf("SchemaClientDigest = \"%x\"\n)\n\n", g.schema.ClientDigest)
	if g.opts.standIns {
		g.printf("// There is no digest of the whole: the store form of USER_TYPEs is part of it, which only their codecs know.\n\n")
	} else {
		g.writeCheck("CheckSchema", "returns an error unless s is of the definitions that this file was generated from", "Digest", "digest")
	}
	g.writeCheck("CheckClientSchema", "returns an error unless s has all that clients see in those definitions", "ClientDigest", "client digest")
}

func (g *generator) writeCheck(name, does, digest, called string) {
	g.pkg.declare("Schema"+digest, "a digest of the definitions")
	g.pkg.declare(name, "a check of the definitions")
	g.printf("// %s %s.\nfunc %s(s *property.Schema) error {\n", name, does, name)
	g.printf("if d := fmt.Sprintf(\"%%x\", s.%s); d != Schema%s {\n", digest, digest)
	g.printf("return fmt.Errorf(\"generated code is of definitions with %s %%s, not %%s: run go generate\", Schema%s, d)\n}\n", called, digest)
	g.printf("return nil\n}\n\n")
}
