package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// schema is what was found so far.
type schema struct {
	kinds    map[string]string
	messages map[string]message
}

// message is a struct, or a named slice that travels as a message with one repeated field.
type message struct {
	list   string // the type of the elements, for a named slice
	fields []field
}

func newSchema() *schema {
	return &schema{kinds: map[string]string{}, messages: map[string]message{}}
}

func (s *schema) addRoot(known *runtime.Scheme, wanted root) error {
	goType, err := typeOf(known, wanted)
	if err != nil {
		return err
	}
	if !isMessage(goType) {
		return errors.New("does not travel as protobuf")
	}
	s.kinds[wanted.groupVersion+" "+wanted.kind] = nameOf(goType)
	return s.addMessage(goType)
}

// addMessage adds a type and all that it reaches.
func (s *schema) addMessage(goType reflect.Type) error {
	name := nameOf(goType)
	if _, added := s.messages[name]; added {
		return nil
	}
	if !isMessage(goType) {
		return fmt.Errorf("%s does not travel as protobuf", goType)
	}
	s.messages[name] = message{} // for types that contain themselves
	if goType.Kind() == reflect.Slice {
		element, err := s.typeName(goType.Elem())
		s.messages[name] = message{list: element}
		return err
	}
	var fields []field
	for index := range goType.NumField() {
		found, err := s.readField(goType.Field(index))
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, goType.Field(index).Name, err)
		}
		if found != nil {
			fields = append(fields, *found)
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return a.number - b.number })
	for index := range fields[min(1, len(fields)):] {
		if fields[index].number == fields[index+1].number {
			return fmt.Errorf("%s has two fields with number %d", name, fields[index].number)
		}
	}
	s.messages[name] = message{fields: fields}
	return nil
}

func (s *schema) write(out io.Writer) {
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		fmt.Fprintln(out, "kind", kind, s.kinds[kind])
	}
	for _, name := range slices.Sorted(maps.Keys(s.messages)) {
		message := s.messages[name]
		if message.list != "" {
			fmt.Fprintln(out, "list", name, message.list)
			continue
		}
		fmt.Fprintln(out, "message", name)
		for _, field := range message.fields {
			fmt.Fprintln(out, field)
		}
	}
}

// nameOf is the package's path without what all have in common, and the name: core/v1.Pod.
func nameOf(goType reflect.Type) string {
	path := goType.PkgPath()
	for _, prefix := range []string{"k8s.io/api/", "k8s.io/apimachinery/pkg/apis/", "k8s.io/apimachinery/pkg/"} {
		if rest, found := strings.CutPrefix(path, prefix); found {
			return rest + "." + goType.Name()
		}
	}
	return path + "." + goType.Name()
}
