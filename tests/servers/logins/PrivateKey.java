// Copyright the Splice authors.
// SPDX-License-Identifier: Apache-2.0

import java.io.FileInputStream;
import java.security.KeyStore;
import java.util.Base64;

/** Prints a private key of a key store as PEM text. The JDK has no tool for this. Arguments: the store, the key's name. */
public final class PrivateKey {

    public static void main(String[] arguments) throws Exception {
        char[] password = System.getenv("STORE_PASS").toCharArray();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream in = new FileInputStream(arguments[0])) {
            store.load(in, password);
        }
        byte[] key = store.getKey(arguments[1], password).getEncoded();
        System.out.println("-----BEGIN PRIVATE KEY-----");
        System.out.println(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key));
        System.out.println("-----END PRIVATE KEY-----");
    }
}
