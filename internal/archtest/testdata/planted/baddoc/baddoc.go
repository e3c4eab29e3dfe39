// This is a package comment that go doc cannot make a list of.
package baddoc
