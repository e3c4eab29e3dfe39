package status

import "reflect"

// Counts are figures by name, such as "cellappmgr.Malformed": the package, and the field of its
// Counts or Stats, which says what is counted. Those that are 0 are left out. Most count from the
// start of their app, as the logins that a LoginApp has refused ("refused.BadCredentials"); those of
// loginapp, dbapp and baseappmgr are of now.
type Counts map[string]uint64

// Take adds the fields of a struct of numbers, each under "of.Field". A bool that is true counts 1.
// It goes by reflection so that nobody can forget a field: call it where reports are made, not in
// each tick.
func (c Counts) Take(of string, figures any) {
	v := reflect.ValueOf(figures)
	for i := range v.NumField() {
		if n := figure(v.Field(i)); n > 0 {
			c[of+"."+v.Type().Field(i).Name] = n
		}
	}
}

func figure(v reflect.Value) uint64 {
	switch {
	case v.CanUint():
		return v.Uint()
	case v.CanInt():
		return uint64(max(0, v.Int()))
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	}
	return 0
}
