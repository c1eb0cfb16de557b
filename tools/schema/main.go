// Command schema writes how the types of Kubernetes' API look on the wire: for each message its fields, with their
// JSON names, protobuf numbers and Go types. See README.md for the format.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	rootsFile := flag.String("roots", "roots.txt", "file that lists the kinds wanted")
	all := flag.Bool("all", false, "take every kind instead")
	flag.Parse()
	if err := run(*rootsFile, *all); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(rootsFile string, all bool) error {
	known, err := knownTypes()
	if err != nil {
		return err
	}
	var wanted []root
	if all {
		wanted = everyRoot(known)
	} else if wanted, err = readRoots(rootsFile); err != nil {
		return err
	}
	schema := newSchema()
	for _, root := range wanted {
		if err := schema.addRoot(known, root); err != nil {
			return fmt.Errorf("%s %s: %w", root.groupVersion, root.kind, err)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	schema.write(out)
	return out.Flush()
}

// knownTypes is client-go's scheme, with the groups of k8s.io/api that it leaves out.
func knownTypes() (*runtime.Scheme, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme,
		admissionv1.AddToScheme,
		admissionv1beta1.AddToScheme,
		apidiscoveryv2.AddToScheme,
		apidiscoveryv2beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme,
	} {
		if err := add(known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

func readRoots(path string) ([]root, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var roots []root
	for number, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 2 {
			return nil, fmt.Errorf("%s:%d: want a group and version, and a kind", path, number+1)
		}
		roots = append(roots, root{groupVersion: words[0], kind: words[1]})
	}
	return roots, nil
}
