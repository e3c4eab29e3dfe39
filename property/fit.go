package property

// Check reports whether v fits the type; the error says why not and is ErrValue or ErrLength.
func (t *DataType) Check(v Value) error {
	_, err := t.Fit(v)
	return err
}

// Fit returns v as the type stores it: whole numbers take the type's sign, a FLOAT32 is rounded. A
// stored value that travels comes back equal. The error is ErrValue or ErrLength.
func (t *DataType) Fit(v Value) (Value, error) { return t.form.fit(t, v) }
