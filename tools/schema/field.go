package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// special are the types that write their JSON themselves.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "time",
	reflect.TypeFor[metav1.MicroTime]():     "microtime",
	reflect.TypeFor[metav1.FieldsV1]():      "fieldsv1",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intorstring",
	reflect.TypeFor[runtime.RawExtension](): "rawextension",
}

// field is one field of a message.
type field struct {
	number int
	name   string
	form   string // Go's notation for what is around the type: *, [] or map[string]
	goType string
	flag   string
}

func (f field) String() string {
	line := fmt.Sprintf("%d %s %s%s", f.number, f.name, f.form, f.goType)
	if f.flag != "" {
		line += " " + f.flag
	}
	return line
}

// readField reads the tags of a field; nil for one that does not travel as protobuf.
func (s *schema) readField(member reflect.StructField) (*field, error) {
	numberTag, tagged := member.Tag.Lookup("protobuf")
	jsonTag := member.Tag.Get("json")
	if !member.IsExported() || !tagged || jsonTag == "-" {
		return nil, nil
	}
	var found field
	parts := strings.Split(numberTag, ",")
	if len(parts) < 2 {
		return nil, errors.New("its protobuf tag has no number")
	}
	number, err := strconv.Atoi(parts[1])
	if err != nil || number < 1 {
		return nil, fmt.Errorf("its protobuf number is %q", parts[1])
	}
	found.number = number
	options := strings.Split(jsonTag, ",")
	if found.name = options[0]; found.name == "" {
		found.name = member.Name
	}

	inner := member.Type
	switch {
	case inner.Kind() == reflect.Pointer:
		found.form, inner = "*", inner.Elem()
	case inner.Kind() == reflect.Map:
		if inner.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("its keys are %s", inner.Key())
		}
		found.form, inner = "map[string]", withoutPointer(inner.Elem())
	case inner.Kind() == reflect.Slice && !isBytes(inner) && !isMessage(inner):
		found.form, inner = "[]", withoutPointer(inner.Elem())
	}
	if found.goType, err = s.typeName(inner); err != nil {
		return nil, err
	}
	return s.readOptions(found, member, inner, options)
}

func (s *schema) readOptions(found field, member reflect.StructField, inner reflect.Type, options []string) (*field, error) {
	omitempty, omitzero := false, false
	for _, option := range options[1:] {
		switch option {
		case "omitempty":
			omitempty = true
		case "omitzero":
			omitzero = true
		case "inline":
		default:
			return nil, fmt.Errorf("its JSON option %q is not known", option)
		}
	}
	switch {
	case member.Anonymous && options[0] == "":
		if found.form != "" || inner.Kind() != reflect.Struct || special[inner] != "" {
			return nil, errors.New("only a struct can be inline")
		}
		found.name, found.flag = "-", "inline"
	case omitzero:
		if special[inner] != "time" {
			return nil, errors.New("omitzero is only known on a time")
		}
		found.flag = "omitzero"
	case !omitempty:
		found.flag = "keep"
	}
	return &found, nil
}

// typeName is the name of a type without what is around it; messages are added to the schema.
func (s *schema) typeName(goType reflect.Type) (string, error) {
	if name, found := special[goType]; found {
		return name, nil
	}
	marshaler := reflect.TypeFor[json.Marshaler]()
	if goType.Implements(marshaler) || reflect.PointerTo(goType).Implements(marshaler) {
		return "", fmt.Errorf("%s writes its JSON itself, in a way that is not known", goType)
	}
	switch goType.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return goType.Kind().String(), nil
	case reflect.Slice:
		if isBytes(goType) {
			return "bytes", nil
		}
		return nameOf(goType), s.addMessage(goType)
	case reflect.Struct:
		return nameOf(goType), s.addMessage(goType)
	}
	return "", fmt.Errorf("no type of the wire is known for %s", goType)
}

func withoutPointer(goType reflect.Type) reflect.Type {
	if goType.Kind() == reflect.Pointer {
		return goType.Elem()
	}
	return goType
}

func isBytes(goType reflect.Type) bool {
	return goType.Kind() == reflect.Slice && goType.Elem().Kind() == reflect.Uint8
}

// isMessage tells whether a type travels as a protobuf message of its own.
func isMessage(goType reflect.Type) bool {
	return goType.Name() != "" && reflect.PointerTo(goType).Implements(reflect.TypeFor[interface{ Unmarshal([]byte) error }]())
}
