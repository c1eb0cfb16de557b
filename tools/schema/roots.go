package main

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gv "k8s.io/apimachinery/pkg/runtime/schema"
)

// everyGroup stands for the group and version of a kind that all have, such as DeleteOptions.
const everyGroup = "*"

// root is a kind that an envelope may name.
type root struct {
	groupVersion, kind string
}

// everyRoot lists all kinds that travel as protobuf.
func everyRoot(known *runtime.Scheme) []root {
	var roots []root
	for gvk, goType := range known.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal && isMessage(goType) {
			roots = append(roots, root{groupVersion: gvk.GroupVersion().String(), kind: gvk.Kind})
		}
	}
	return roots
}

// typeOf finds the Go type of a root.
func typeOf(known *runtime.Scheme, wanted root) (reflect.Type, error) {
	if wanted.groupVersion == everyGroup {
		return typeInEveryGroup(known, wanted.kind)
	}
	groupVersion, err := gv.ParseGroupVersion(wanted.groupVersion)
	if err != nil {
		return nil, err
	}
	goType, found := known.AllKnownTypes()[groupVersion.WithKind(wanted.kind)]
	if !found {
		return nil, errors.New("not in client-go's scheme")
	}
	return goType, nil
}

func typeInEveryGroup(known *runtime.Scheme, kind string) (reflect.Type, error) {
	var found reflect.Type
	for gvk, goType := range known.AllKnownTypes() {
		if gvk.Kind != kind || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		if found != nil && found != goType {
			return nil, fmt.Errorf("is %s in one group and %s in another", found, goType)
		}
		found = goType
	}
	if found == nil {
		return nil, errors.New("in no group of client-go's scheme")
	}
	if found.PkgPath() != reflect.TypeFor[metav1.TypeMeta]().PkgPath() {
		return nil, fmt.Errorf("%s belongs to one group", found)
	}
	return found, nil
}
